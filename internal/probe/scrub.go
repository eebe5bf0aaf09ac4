package probe

import (
	"cmp"
	"encoding/base64"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"synthetic/internal/probe/target"
)

const (
	// maxErr is the maximum length of an error text in bytes.
	maxErr = 300
	// maxRaw is the maximum length, in bytes, of a text that is searched for secrets. The search
	// costs more than reading the text.
	maxRaw   = 16 << 10
	redacted = "<redacted>"
	// minBase64 is the number of base64 characters that distinguish a secret from other text.
	minBase64 = 8
	// maxLayers is how often a text may be escaped: for example a message inside a page inside a
	// JSON string.
	maxLayers = 4
	// maxEscape is the length of the longest escape.
	maxEscape = 12
)

// scrubber removes secrets from texts of servers and libraries. An error body may repeat the
// key, in any spelling. The elements are the secrets as they appear in an unescaped text,
// longest first.
type scrubber []string

// newScrubber returns a scrubber for the headers of a request. Any value may be a secret, except
// those that are too short to distinguish them from normal text.
func newScrubber(header http.Header) scrubber {
	var s scrubber
	add := func(secret string, minLength int) {
		if len(secret) >= minLength {
			s = append(append(s, secret, unescape(secret)), inBase64(secret)...)
		}
	}
	for name, values := range header {
		for _, v := range values {
			scheme, token, _ := strings.Cut(v, " ") // "Bearer abc"
			switch name {
			case "User-Agent", "Anthropic-Version", target.ProbeHeader:
				continue
			case "Authorization":
				add(token, 4)
				if text, err := base64.StdEncoding.DecodeString(token); err == nil && scheme == "Basic" {
					_, password, _ := strings.Cut(string(text), ":")
					add(password, 4)
				}
			}
			add(v, 8)
			add(token, 8)
		}
	}
	// Longer ones first, so that a secret inside another one does not break it up.
	slices.SortStableFunc(s, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(s)
}

// inBase64 returns the parts of a secret's base64 that do not depend on the surrounding text. It
// determines the alignment, and the first and last character.
func inBase64(secret string) (all []string) {
	for before := range 3 {
		bits := (before + len(secret)) * 8
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		if first, last := (before*8+5)/6, bits/6; last-first >= minBase64 {
			all = append(all, text[first:last], strings.NewReplacer("+", "-", "/", "_").Replace(text[first:last]))
		}
	}
	return all
}

var (
	// escapes matches the escapes of JSON, Go, URLs and HTML.
	escapes = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[\\/"']|%[2-9a-fA-F][0-9a-fA-F]|&(?:#[xX]?[0-9a-fA-F]{1,8}|[a-zA-Z]{2,10});`)
	// cutEscape matches an incomplete escape at the end of a text.
	cutEscape = regexp.MustCompile(`(?:\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?|%[0-9a-fA-F]?|&(?:#[xX]?[0-9a-fA-F]{0,8}|[a-zA-Z]{0,10}))$`)
)

func unescape(text string) string { return scrubber(nil).unescape(text) }

// unescape decodes all layers of escapes. It removes the secrets before each layer and after the
// last, because a secret may look like an escape.
func (s scrubber) unescape(text string) string {
	for range maxLayers {
		text = s.remove(text)
		plain := strings.ToValidUTF8(escapes.ReplaceAllStringFunc(text, decodeEscape), "?")
		if plain == text {
			return text
		}
		text = plain
	}
	return s.remove(text)
}

func decodeEscape(e string) string {
	switch {
	case e[0] == '&':
		return html.UnescapeString(e)
	case e[0] == '%':
		if code, err := strconv.ParseUint(e[1:], 16, 8); err == nil {
			return string([]byte{byte(code)})
		}
	case e[1] == 'u' || e[1] == 'x':
		if code, err := strconv.ParseUint(e[2:], 16, 16); err == nil {
			return string(rune(code))
		}
	}
	return e[1:]
}

// dropCutEscape removes an incomplete escape at the end of a text.
func dropCutEscape(text string) string {
	for range maxLayers {
		end := max(len(text)-maxEscape, 0)
		text = text[:end] + cutEscape.ReplaceAllString(text[end:], "")
	}
	return text
}

// remove removes the secrets from an unescaped text.
func (s scrubber) remove(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}

// hide removes the secrets from a short, complete text. It does not change a text without
// secrets.
func (s scrubber) hide(text string) string {
	if plain := s.unescape(text); strings.Contains(plain, redacted) {
		return plain
	}
	return text
}

// clean removes the secrets and control characters, and shortens the text to maxErr bytes. If
// the end of the text may be the beginning of a secret, it also removes that.
func (s scrubber) clean(text string) string {
	text = clip(text, maxRaw)
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) { // texts are printed on terminals
			return ' '
		}
		return r
	}, s.unescape(strings.ToValidUTF8(text, "?")))
	text = s.remove(text)
	whole := dropCutEscape(text)
	for _, secret := range s {
		if rest := dropPartial(whole, secret); rest != whole {
			text, whole = rest, rest
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxErr {
		text = clip(text, maxErr) + "…"
	}
	return text
}

// clip shortens a text to maxBytes or less, between two characters.
func clip(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	for maxBytes > 0 && !utf8.RuneStart(text[maxBytes]) {
		maxBytes--
	}
	return text[:maxBytes]
}

// dropPartial removes the longest beginning of a secret, of at least 4 bytes, from the end of a
// text.
func dropPartial(text, secret string) string {
	for n := min(len(secret)-1, len(text)); n >= 4; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return text[:len(text)-n] + redacted
		}
	}
	return text
}
