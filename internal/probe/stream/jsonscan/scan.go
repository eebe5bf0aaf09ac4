// Package jsonscan walks JSON texts without building values: whoever reads says
// what it wants, and the rest is skipped, at a few nanoseconds a byte.
package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
)

// maxDepth is the nesting at which encoding/json gives up too.
const maxDepth = 10000

// Scanner walks one JSON text and checks its syntax on the way, without
// building values: the caller names the members it wants and skips the rest.
// The first mistake makes it bad, after which every method does nothing.
type Scanner struct {
	b     []byte
	i     int
	depth int
	fresh bool // the container just entered has yielded nothing yet
	bad   bool
}

// New returns a Scanner of a text, at its beginning.
func New(b []byte) Scanner { return Scanner{b: b} }

// Within returns a Scanner of a text whose first n bytes are known to begin its
// object, up to the value of a member.
func Within(b []byte, n int) Scanner { return Scanner{b: b, i: n, depth: 1} }

// Before returns what was scanned.
func (s *Scanner) Before() []byte { return s.b[:s.i] }

// Bad reports whether there was a mistake.
func (s *Scanner) Bad() bool { return s.bad }

// Text is a string as it stands in the JSON text, still escaped.
type Text struct {
	Raw     []byte
	Escaped bool
}

func (s *Scanner) fail() { s.bad = true }

// Whole reports whether the text was valid and is used up.
func (s *Scanner) Whole() bool { return !s.bad && s.Peek() == 0 && s.i == len(s.b) }

// Peek skips white space and returns the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.i < len(s.b) && s.b[s.i] > ' ' { // nearly always; short enough to inline
		return s.b[s.i]
	}
	return s.peekSpaced()
}

func (s *Scanner) peekSpaced() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// Enter consumes the opening bracket that Peek returned. It is followed by a
// loop over Another.
func (s *Scanner) Enter() {
	s.i++
	s.depth++
	s.fresh = true
	if s.depth > maxDepth {
		s.fail()
	}
}

// Another reports whether a further element follows, and consumes the comma
// before it, or the closing bracket.
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

// Key consumes a member's name and its colon.
func (s *Scanner) Key() []byte {
	name := s.str()
	if s.Peek() != ':' {
		s.fail()
		return nil
	}
	s.i++
	if name.Escaped {
		return unescape(bytes.Clone(name.Raw))
	}
	return name.Raw
}

// str consumes a string.
func (s *Scanner) str() Text {
	if s.bad || s.Peek() != '"' {
		s.fail()
		return Text{}
	}
	s.i++
	t := Text{}
	for start := s.i; ; {
		s.i += plain(s.b[s.i:])
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
			t.Escaped = true
			n := escape(s.b[s.i:])
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

// plain returns how many bytes of b stand for themselves inside a string,
// looking at eight at a time: strings are most of a chunk, and this loop most
// of the cost of an event.
func plain(b []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote := w ^ '"'*ones
		slash := w ^ '\\'*ones
		// A byte's high bit is set where it is zero (or, for w, below space).
		// A borrow may set the bits above a true one, never below: the lowest
		// is right.
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

// escape returns the length of the escape sequence that b begins with, 0 if it
// is none.
func escape(b []byte) int {
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
		s.str()
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

// Number consumes a number and returns it as it stands.
func (s *Scanner) Number() []byte {
	start := s.i
	if s.at() == '-' {
		s.i++
	}
	if s.at() == '0' {
		s.i++
	} else {
		s.digits()
	}
	if s.at() == '.' {
		s.i++
		s.digits()
	}
	if c := s.at(); c == 'e' || c == 'E' {
		s.i++
		if c := s.at(); c == '+' || c == '-' {
			s.i++
		}
		s.digits()
	}
	if s.bad {
		return nil
	}
	return s.b[start:s.i]
}

// at returns the byte at the cursor, 0 at the end.
func (s *Scanner) at() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// digits consumes one digit or more.
func (s *Scanner) digits() {
	start := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	if s.i == start {
		s.fail()
	}
}

// Count consumes a value and returns it if it is a whole number that can
// count tokens; anything else is skipped.
func (s *Scanner) Count() (int, bool) {
	if c := s.Peek(); c-'0' > 9 {
		s.Skip()
		return 0, false
	}
	lit := s.Number()
	if len(lit) > 15 || bytes.ContainsAny(lit, ".eE") {
		f, err := strconv.ParseFloat(string(lit), 64)
		n := int(min(f, 1<<53))
		return n, err == nil && float64(n) == f
	}
	n := 0
	for _, c := range lit {
		n = n*10 + int(c-'0')
	}
	return n, !s.bad
}

// CountOr consumes a value and returns it if it can count tokens, otherwise
// what was known before.
func (s *Scanner) CountOr(before int) int {
	if n, ok := s.Count(); ok {
		return n
	}
	return before
}

// Members consumes an object, of whose members the loop reads the values;
// anything else is skipped.
func (s *Scanner) Members(loop func(name []byte) bool) {
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	for s.Enter(); s.Another('}') && loop(s.Key()); {
	}
}

// Root is Members of a text that is to be an object as a whole.
func (s *Scanner) Root(loop func(name []byte) bool) {
	if s.Peek() != '{' {
		s.fail()
		return
	}
	s.Members(loop)
}

// Elements consumes a list, of which the loop reads the elements; anything else is
// skipped.
func (s *Scanner) Elements(loop func(position int) bool) {
	if s.Peek() != '[' {
		s.Skip()
		return
	}
	s.Enter()
	for i := 0; s.Another(']') && loop(i); i++ {
	}
}

// Object consumes a value and returns it as it stands if it is an object.
func (s *Scanner) Object() Text {
	is := s.Peek() == '{'
	start := s.i
	s.Skip()
	if !is || s.bad {
		return Text{}
	}
	return Text{Raw: s.b[start:s.i]}
}

// Optional consumes a value and returns it if it is a non-empty string.
func (s *Scanner) Optional() Text {
	if s.Peek() != '"' {
		s.Skip()
		return Text{}
	}
	return s.str()
}
