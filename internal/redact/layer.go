package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// wordCodes and symbolCodes map a byte to its code, which is the same for both cases; 0 means that
// the byte is skipped.
var wordCodes, symbolCodes = codeTables()

func codeTables() (words, symbols [256]byte) {
	for c := byte('!'); c <= '~'; c++ {
		code := c
		if 'A' <= c && c <= 'Z' {
			code += 'a' - 'A'
		}
		symbols[c] = code
		if '0' <= code && code <= '9' || 'a' <= code && code <= 'z' {
			words[c] = code
		}
	}
	return words, symbols
}

// layer is a text after some rounds of decoding escapes.
type layer struct {
	text string
	// origin has the offset of each byte in the original text, and then the length of that; nil
	// for the original text.
	origin []int32
}

// span returns the place of text[from:to] in the original text.
func (l *layer) span(from, to int) span {
	if l.origin == nil {
		return span{from, to}
	}
	return span{int(l.origin[from]), int(l.origin[to])}
}

// coded is a text as a sequence of codes. places has their offsets in the text.
type coded struct {
	codes  []byte
	places []int32
}

func (c coded) at(i int) int { return int(c.places[i]) }

func (l *layer) codes(table *[256]byte) coded {
	c := coded{make([]byte, 0, len(l.text)), make([]int32, 0, len(l.text))}
	for i := range len(l.text) {
		if code := table[l.text[i]]; code != 0 {
			c.codes, c.places = append(c.codes, code), append(c.places, int32(i))
		}
	}
	return c
}

// encode returns the codes of a text.
func encode(text []byte, table *[256]byte) []byte {
	l := layer{text: string(text)}
	return l.codes(table).codes
}

const escapes = `\%&=`

// unescape decodes each escape once. It returns nil if there is none.
func (l *layer) unescape() *layer {
	if !strings.ContainsAny(l.text, escapes) {
		return nil
	}
	out, origin, changed := make([]byte, 0, len(l.text)), make([]int32, 0, len(l.text)+1), false
	for i := 0; i < len(l.text); {
		c, n := l.text[i], 1
		if strings.IndexByte(escapes, c) >= 0 {
			if code, length := decode(l.text[i:]); length > 0 {
				c, n, changed = code, length, true
			}
		}
		out, origin = append(out, c), append(origin, int32(l.span(i, i).from))
		i += n
	}
	if !changed {
		return nil
	}
	return &layer{string(out), append(origin, int32(l.span(len(l.text), len(l.text)).from))}
}

// other stands for a decoded character that is not ASCII.
const other = 0x80

// decode decodes the escape at the beginning of a text, and returns its length; 0 for no escape.
func decode(t string) (c byte, length int) {
	switch t[0] {
	case '%':
		if strings.HasPrefix(t, "%u") {
			return number(t, 2, 4, 4, 16)
		}
		return number(t, 1, 2, 2, 16)
	case '=': // quoted-printable, and its broken lines
		switch {
		case strings.HasPrefix(t, "=\r\n"):
			return ' ', 3
		case strings.HasPrefix(t, "=\n"):
			return ' ', 2
		}
		return number(t, 1, 2, 2, 16)
	case '&':
		return decodeEntity(t)
	}
	return decodeBackslash(t)
}

func decodeBackslash(t string) (c byte, length int) {
	if len(t) < 2 {
		return 0, 0
	}
	switch t[1] {
	case 'u':
		if strings.HasPrefix(t, `\u{`) {
			if c, length = number(t, 3, 1, 6, 16); length > 0 {
				length += len("}")
			}
			return c, min(length, len(t))
		}
		return number(t, 2, 4, 4, 16)
	case 'U':
		return number(t, 2, 8, 8, 16)
	case 'x':
		return number(t, 2, 2, 2, 16)
	case 'a', 'b', 'f', 'n', 'r', 't', 'v':
		return ' ', 2
	}
	if c, length = number(t, 1, 3, 3, 8); length > 0 {
		return c, length
	}
	return t[1], 2
}

// maxEntity is the length of the longest name of an entity.
const maxEntity = 33

func decodeEntity(t string) (c byte, length int) {
	switch {
	case strings.HasPrefix(t, "&#x"), strings.HasPrefix(t, "&#X"):
		c, length = number(t, 3, 1, 8, 16)
	case strings.HasPrefix(t, "&#"):
		c, length = number(t, 2, 1, 8, 10)
	default:
		end := strings.IndexByte(t[:min(len(t), maxEntity)], ';')
		if end < 0 {
			return 0, 0
		}
		r, size := utf8.DecodeRuneInString(html.UnescapeString(t[:end+1]))
		if r == '&' && size == 1 && t[:end+1] != "&amp;" {
			return 0, 0
		}
		return ascii(uint64(r)), end + 1
	}
	if length > 0 && strings.HasPrefix(t[length:], ";") {
		length++
	}
	return c, length
}

// number reads a number of least to most digits from offset from.
func number(t string, from, least, most, base int) (c byte, length int) {
	end := from
	for end < len(t) && end < from+most && isDigit(t[end], base) {
		end++
	}
	if end-from < least {
		return 0, 0
	}
	code, err := strconv.ParseUint(t[from:end], base, 64)
	if err != nil {
		return 0, 0
	}
	return ascii(code), end
}

func isDigit(c byte, base int) bool {
	switch {
	case c <= '9':
		return '0' <= c && int(c-'0') < base
	case base == 16:
		return 'a' <= c|0x20 && c|0x20 <= 'f'
	}
	return false
}

func ascii(code uint64) byte {
	if code >= utf8.RuneSelf {
		return other
	}
	return byte(code)
}
