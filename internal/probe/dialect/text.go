package dialect

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text is a string as it is written in the JSON text, or empty.
type text struct {
	raw     []byte
	escaped bool
	joined  bool // append made it
}

// or returns other if t is empty.
func (t text) or(other text) text {
	if len(t.raw) == 0 {
		return other
	}
	return t
}

// append returns both texts, joined. Many calls take a time in proportion to the result.
func (t text) append(other text) text {
	if len(t.raw) == 0 || len(other.raw) == 0 {
		return t.or(other)
	}
	if !t.joined {
		t.raw, t.joined = slices.Clip(t.raw), true // so that append does not write into the JSON text
	}
	t.raw, t.escaped = append(t.raw, other.raw...), t.escaped || other.escaped
	return t
}

func (t text) clone() text { return text{raw: bytes.Clone(t.raw), escaped: t.escaped} }

// decode returns the string without escapes, or nil if it is empty. It overwrites the bytes of t and
// returns them.
func (t text) decode() []byte {
	switch {
	case len(t.raw) == 0:
		return nil
	case t.escaped:
		return unescape(t.raw)
	}
	return t.raw
}

// unescape decodes a valid JSON string in place. An escape sequence is never shorter than its UTF-8.
func unescape(b []byte) []byte {
	n := 0
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			b[n] = b[i]
			n++
			i++
			continue
		}
		if b[i+1] != 'u' {
			b[n] = shortEscape(b[i+1])
			n++
			i += 2
			continue
		}
		c, size := unicodeEscape(b[i:])
		i += size
		n += utf8.EncodeRune(b[n:n+utf8.RuneLen(c)], c)
	}
	return b[:n]
}

// shortEscape returns the byte for an escape sequence of a backslash and c.
func shortEscape(c byte) byte {
	if i := strings.IndexByte("bfnrt", c); i >= 0 {
		return "\b\f\n\r\t"[i]
	}
	return c
}

// unicodeEscape decodes the \u escape at the start of b, or a surrogate pair of two. Half a pair
// becomes the replacement character.
func unicodeEscape(b []byte) (c rune, size int) {
	c, _ = hex4(b[2:])
	if !utf16.IsSurrogate(c) {
		return c, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		low, _ := hex4(b[8:])
		if pair := utf16.DecodeRune(c, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(b []byte) (c rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	var decoded [2]byte
	_, err := hex.Decode(decoded[:], b[:4])
	return rune(decoded[0])<<8 | rune(decoded[1]), err == nil
}
