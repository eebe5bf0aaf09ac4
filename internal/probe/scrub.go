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

// maxErr is the length in bytes to which error texts are cut.
const maxErr = 300

// maxRaw is to how many bytes they are cut before it is looked for secrets in
// them, which costs more than reading them did.
const maxRaw = 16 << 10

// redacted stands where a secret was.
const redacted = "<redacted>"

// scrubber removes secrets from texts that a server or a library made: an
// error body may echo the key it was given, in any spelling. It has what to look
// for in a text whose escapes are undone, the longest first.
type scrubber []string

// newScrubber takes the secrets to remove from the headers that a request
// carries beside its own: any value may be one. Values too short to be told from
// ordinary text are left out.
func newScrubber(header http.Header) scrubber {
	var s scrubber
	add := func(secret string, least int) {
		if len(secret) >= least {
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
	// A secret that is part of another one must not break it up.
	slices.SortStableFunc(s, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(s)
}

// leastBase64 is how many characters of base64 tell a secret from other text.
const leastBase64 = 8

// inBase64 returns what of a secret is the same in the base64 of every text that
// has it: what surrounds it decides how it is aligned, and its first and last
// character.
func inBase64(secret string) (all []string) {
	for before := range 3 {
		bits := (before + len(secret)) * 8
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		if first, last := (before*8+5)/6, bits/6; last-first >= leastBase64 {
			all = append(all, text[first:last], strings.NewReplacer("+", "-", "/", "_").Replace(text[first:last]))
		}
	}
	return all
}

// maxLayers is how many times over a text may be escaped: the message of one
// server within the page of another, within a JSON text.
const maxLayers = 4

// escaped matches the escapes of JSON and of Go, of URLs and of HTML.
var escaped = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[\\/"']|%[2-9a-fA-F][0-9a-fA-F]|&(?:#[xX]?[0-9a-fA-F]{1,8}|[a-zA-Z]{2,10});`)

// maxEscape is the length of the longest escape.
const maxEscape = 12

// open matches an escape that the end of a text cuts.
var open = regexp.MustCompile(`(?:\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?|%[0-9a-fA-F]?|&(?:#[xX]?[0-9a-fA-F]{0,8}|[a-zA-Z]{0,10}))$`)

// unescape undoes all escapes, as many times over as there may be: a server that
// echoes a key may have changed its spelling.
func unescape(text string) string { return scrubber(nil).unescape(text) }

// unescape undoes escapes and removes the secrets, before each layer and after
// the last: a secret may look like an escape itself.
func (s scrubber) unescape(text string) string {
	for range maxLayers {
		text = s.remove(text)
		plain := strings.ToValidUTF8(escaped.ReplaceAllStringFunc(text, unescapeOne), "?")
		if plain == text {
			return text
		}
		text = plain
	}
	return s.remove(text)
}

func unescapeOne(e string) string {
	switch {
	case e[0] == '&':
		return html.UnescapeString(e)
	case e[0] == '%':
		return unescapeHex(e, e[1:], func(code uint64) string { return string([]byte{byte(code)}) })
	case e[1] == 'u' || e[1] == 'x':
		return unescapeHex(e, e[2:], func(code uint64) string { return string(rune(code)) })
	}
	return e[1:]
}

func unescapeHex(escape, digits string, text func(uint64) string) string {
	code, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return escape
	}
	return text(code)
}

// withoutOpen cuts what the end of a text has begun to escape.
func withoutOpen(text string) string {
	for range maxLayers {
		end := max(len(text)-maxEscape, 0)
		text = text[:end] + open.ReplaceAllString(text[end:], "")
	}
	return text
}

// printable puts a space in place of control characters: a server's words go
// to terminals.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// remove removes the secrets as they are spelled.
func (s scrubber) remove(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}

// hide removes the secrets from a short text that was not cut, and leaves one
// without any as it is.
func (s scrubber) hide(text string) string {
	if plain := s.unescape(text); strings.Contains(plain, redacted) {
		return plain
	}
	return text
}

// clean removes the secrets, then cuts the text to maxErr bytes. A text that
// was cut within a secret before it came here loses that rest, too, and the
// escape that was cut.
func (s scrubber) clean(text string) string {
	text = clip(text, maxRaw)
	text = strings.Map(printable, s.unescape(strings.ToValidUTF8(text, "?")))
	text = s.remove(text)
	whole := withoutOpen(text)
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

// clip cuts text to at most so many bytes, between two characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// dropPartial removes the longest beginning of secret (of at least 4 bytes)
// that ends text.
func dropPartial(text, secret string) string {
	for n := min(len(secret)-1, len(text)); n >= 4; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return text[:len(text)-n] + redacted
		}
	}
	return text
}
