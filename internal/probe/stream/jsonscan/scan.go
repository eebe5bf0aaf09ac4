// Package jsonscan reads JSON texts without building values, at a few nanoseconds per byte. The
// caller names the members that it wants and skips the others.
package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
)

// maxDepth is the nesting limit of encoding/json.
const maxDepth = 10000

// Scanner reads one JSON text and checks its syntax. After the first syntax error, every method
// does nothing.
type Scanner struct {
	b     []byte
	i     int
	depth int
	fresh bool // the scanner has just entered an object or list
	bad   bool
}

// New returns a Scanner of a text.
func New(b []byte) Scanner { return Scanner{b: b} }

// NewAt returns a Scanner inside of an object. The first n bytes must be a valid beginning of the
// object, up to the value of a member.
func NewAt(b []byte, n int) Scanner { return Scanner{b: b, i: n, depth: 1} }

// Scanned returns the bytes read so far.
func (s *Scanner) Scanned() []byte { return s.b[:s.i] }

// Bad reports whether there was a syntax error.
func (s *Scanner) Bad() bool { return s.bad }

// Valid reports whether the whole text has been read without a syntax error.
func (s *Scanner) Valid() bool { return !s.bad && s.Peek() == 0 && s.i == len(s.b) }

func (s *Scanner) fail() { s.bad = true }

// Peek skips white space and returns the next byte, or 0 at the end.
func (s *Scanner) Peek() byte {
	if s.i < len(s.b) && s.b[s.i] > ' ' { // the usual case, short enough to be inlined
		return s.b[s.i]
	}
	return s.peekAfterSpace()
}

func (s *Scanner) peekAfterSpace() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// Enter consumes an opening bracket that Peek has returned. A loop over Another must follow.
func (s *Scanner) Enter() {
	s.i++
	s.depth++
	s.fresh = true
	if s.depth > maxDepth {
		s.fail()
	}
}

// Another reports whether another element follows. It consumes the comma before it, or else the
// closing bracket.
func (s *Scanner) Another(closing byte) bool {
	if s.bad {
		return false
	}
	c := s.Peek()
	if c == closing {
		s.i++
		s.depth--
		s.fresh = false
		return false
	}
	if s.fresh {
		s.fresh = false
		return true
	}
	if c != ',' {
		s.fail()
		return false
	}
	s.i++
	return true
}

// Key consumes the name of a member and the colon.
func (s *Scanner) Key() []byte {
	name := s.readString()
	if s.Peek() != ':' {
		s.fail()
		return nil
	}
	s.i++
	if name.escaped {
		return unescape(bytes.Clone(name.Raw))
	}
	return name.Raw
}

func (s *Scanner) readString() Text {
	if s.bad || s.Peek() != '"' {
		s.fail()
		return Text{}
	}
	s.i++
	t := Text{}
	for start := s.i; ; {
		s.i += plainLength(s.b[s.i:])
		if s.i >= len(s.b) {
			s.fail()
			return Text{}
		}
		switch s.b[s.i] {
		case '"':
			t.Raw = s.b[start:s.i]
			s.i++
			return t
		case '\\':
			t.escaped = true
			n := escapeLength(s.b[s.i:])
			if n == 0 {
				s.fail()
				return Text{}
			}
			s.i += n
		default: // a control character
			s.fail()
			return Text{}
		}
	}
}

// plainLength returns how many bytes of b are neither a quote, a backslash nor a control character.
// It checks eight bytes at a time, because strings are most of an event.
func plainLength(b []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote := w ^ '"'*ones
		slash := w ^ '\\'*ones
		// This sets the high bit of each byte that is 0 in quote or slash, or below space in w. A
		// borrow can also set bits above such a byte, but none below, so the lowest bit is right.
		hit := ((quote-ones)&^quote | (slash-ones)&^slash | (w-' '*ones)&^w) & highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

// escapeLength returns the length of the escape sequence at the start of b, or 0 if it is invalid.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

// Skip consumes any value.
func (s *Scanner) Skip() {
	if s.bad {
		return
	}
	switch c := s.Peek(); c {
	case '{':
		for s.Enter(); s.Another('}'); {
			s.Key()
			s.Skip()
		}
	case '[':
		for s.Enter(); s.Another(']'); {
			s.Skip()
		}
	case '"':
		s.readString()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.Number()
	}
}

func (s *Scanner) literal(word string) {
	if !bytes.HasPrefix(s.b[s.i:], []byte(word)) {
		s.fail()
		return
	}
	s.i += len(word)
}

// Number consumes a number and returns its text.
func (s *Scanner) Number() []byte {
	start := s.i
	if s.current() == '-' {
		s.i++
	}
	if s.current() == '0' {
		s.i++
	} else {
		s.digits()
	}
	if s.current() == '.' {
		s.i++
		s.digits()
	}
	if c := s.current(); c == 'e' || c == 'E' {
		s.i++
		if c := s.current(); c == '+' || c == '-' {
			s.i++
		}
		s.digits()
	}
	if s.bad {
		return nil
	}
	return s.b[start:s.i]
}

// current returns the next byte, or 0 at the end.
func (s *Scanner) current() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *Scanner) digits() {
	start := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	if s.i == start {
		s.fail()
	}
}

// Count consumes a value. It returns false if the value is not a whole number from 0 to 2⁵³.
func (s *Scanner) Count() (int, bool) {
	if c := s.Peek(); c-'0' > 9 {
		s.Skip()
		return 0, false
	}
	digits := s.Number()
	if len(digits) > 15 || bytes.ContainsAny(digits, ".eE") {
		f, err := strconv.ParseFloat(string(digits), 64)
		n := int(min(f, 1<<53))
		if err != nil || float64(n) != f {
			return 0, false
		}
		return n, true
	}
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n, !s.bad
}

// CountOr is Count with a default.
func (s *Scanner) CountOr(other int) int {
	if n, ok := s.Count(); ok {
		return n
	}
	return other
}

// Members consumes an object; the loop must consume the value of each member. It skips any other
// value.
func (s *Scanner) Members(loop func(name []byte) bool) {
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	for s.Enter(); s.Another('}') && loop(s.Key()); {
	}
}

// Only is Members for the members with one name. It skips the others.
func (s *Scanner) Only(wanted string) func(loop func() bool) {
	return func(loop func() bool) {
		for name := range s.Members {
			if string(name) != wanted {
				s.Skip()
			} else if !loop() {
				return
			}
		}
	}
}

// Root is Members for a text that must be an object.
func (s *Scanner) Root(loop func(name []byte) bool) {
	if s.Peek() != '{' {
		s.fail()
		return
	}
	s.Members(loop)
}

// Elements consumes a list; the loop must consume each element. It skips any other value.
func (s *Scanner) Elements(loop func(position int) bool) {
	if s.Peek() != '[' {
		s.Skip()
		return
	}
	s.Enter()
	for i := 0; s.Another(']') && loop(i); i++ {
	}
}

// Text consumes a value. It returns a string, and nothing for another value.
func (s *Scanner) Text() Text {
	if s.Peek() != '"' {
		s.Skip()
		return Text{}
	}
	return s.readString()
}
