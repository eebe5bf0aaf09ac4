package probe

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxErr is the length in bytes to which error texts are cut.
const maxErr = 300

// redacted stands where a secret was.
const redacted = "<redacted>"

// scrubber removes secrets from texts that a server or a library made: an
// error body may echo the key it was given.
type scrubber []string

// newScrubber takes the secrets to remove from the headers that a request
// carries beside its own: any value may be one. Values too short to be told from
// ordinary text are left out.
func newScrubber(header http.Header) scrubber {
	var s scrubber
	add := func(secret string, least int) {
		if len(secret) >= least {
			s = append(s, secret)
		}
	}
	for name, values := range header {
		for _, v := range values {
			scheme, token, _ := strings.Cut(v, " ") // "Bearer abc"
			switch name {
			case "User-Agent":
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
	slices.SortStableFunc(s, func(a, b string) int { return len(b) - len(a) })
	return s
}

// escaped matches the escapes that JSON encoders put in place of printable
// ASCII: "/" by some, "=", "+", "&", "<", ">" and "'" by others.
var escaped = regexp.MustCompile(`\\/|\\u00[2-7][0-9a-fA-F]`)

// unescape undoes them: a server that echoes a key in raw JSON may have changed
// its spelling.
func unescape(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(e string) string {
		if code, err := strconv.ParseUint(e[2:], 16, 8); err == nil {
			return string(rune(code))
		}
		return e[1:]
	})
}

// printable puts a space in place of control characters: a server's words go
// to terminals.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// hide removes the secrets from a short text that was not cut.
func (s scrubber) hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}

// clean removes the secrets, then cuts the text to maxErr bytes. A text that
// was cut within a secret before it came here loses that rest, too.
func (s scrubber) clean(text string) string {
	text = strings.Map(printable, unescape(strings.ToValidUTF8(text, "?")))
	text = s.hide(text)
	for _, secret := range s {
		text = dropPartial(text, secret)
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
