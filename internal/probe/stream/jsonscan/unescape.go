package jsonscan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Or is the other text where t is empty.
func (t Text) Or(other Text) Text {
	if len(t.Raw) == 0 {
		return other
	}
	return t
}

// Clone is the same text in memory of its own.
func (t Text) Clone() Text { return Text{bytes.Clone(t.Raw), t.Escaped} }

// Decode returns the string that t stands for. It writes over t's bytes, which
// the result shares; nil if the string is empty.
func (t Text) Decode() []byte {
	switch {
	case len(t.Raw) == 0:
		return nil
	case t.Escaped:
		return unescape(t.Raw)
	}
	return t.Raw
}

// unescape replaces the escape sequences of a valid JSON string in place: each
// is at least as long as the UTF-8 it stands for.
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
			b[n] = control(b[i+1])
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

// control returns the byte that a two-byte escape stands for.
func control(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// unicodeEscape decodes the \u escape, or the pair of them that make one
// character, that b begins with. Half a pair is the replacement character.
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

// hex4 reads four hex digits.
func hex4(b []byte) (c rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, d := range b[:4] {
		switch {
		case d-'0' <= 9:
			d -= '0'
		case d|0x20-'a' <= 5:
			d = d | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		c = c<<4 | rune(d)
	}
	return c, true
}
