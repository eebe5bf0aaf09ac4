package stream

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
)

// maxDepth is the nesting at which encoding/json gives up too.
const maxDepth = 10000

// scanner walks one JSON text and checks its syntax on the way, without
// building values: the caller names the members it wants and skips the rest.
// The first mistake sets bad, after which every method does nothing.
type scanner struct {
	b     []byte
	i     int
	depth int
	fresh bool // the container just entered has yielded nothing yet
	bad   bool
}

// text is a string as it stands in the JSON text, still escaped.
type text struct {
	raw     []byte
	escaped bool
}

func (s *scanner) fail() { s.bad = true }

// whole reports whether the text was valid and is used up.
func (s *scanner) whole() bool { return !s.bad && s.peek() == 0 && s.i == len(s.b) }

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.i < len(s.b) && s.b[s.i] > ' ' { // nearly always; short enough to inline
		return s.b[s.i]
	}
	return s.peekSpaced()
}

func (s *scanner) peekSpaced() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// enter consumes the opening bracket that peek returned. It is followed by a
// loop over another.
func (s *scanner) enter() {
	s.i++
	s.depth++
	s.fresh = true
	if s.depth > maxDepth {
		s.fail()
	}
}

// another reports whether a further element follows, and consumes the comma
// before it, or the closing bracket.
func (s *scanner) another(closing byte) bool {
	if s.bad {
		return false
	}
	c := s.peek()
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

// key consumes a member's name and its colon.
func (s *scanner) key() []byte {
	name := s.str()
	if s.peek() != ':' {
		s.fail()
		return nil
	}
	s.i++
	if name.escaped {
		return unescape(bytes.Clone(name.raw))
	}
	return name.raw
}

// str consumes a string.
func (s *scanner) str() text {
	if s.bad || s.peek() != '"' {
		s.fail()
		return text{}
	}
	s.i++
	t := text{}
	for start := s.i; ; {
		s.i += plain(s.b[s.i:])
		if s.i >= len(s.b) {
			s.fail()
			return text{}
		}
		switch s.b[s.i] {
		case '"':
			t.raw = s.b[start:s.i]
			s.i++
			return t
		case '\\':
			t.escaped = true
			n := escape(s.b[s.i:])
			if n == 0 {
				s.fail()
				return text{}
			}
			s.i += n
		default: // a control character
			s.fail()
			return text{}
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

// skip consumes any value.
func (s *scanner) skip() {
	if s.bad {
		return
	}
	switch c := s.peek(); c {
	case '{':
		for s.enter(); s.another('}'); {
			s.key()
			s.skip()
		}
	case '[':
		for s.enter(); s.another(']'); {
			s.skip()
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
		s.number()
	}
}

func (s *scanner) literal(word string) {
	if !bytes.HasPrefix(s.b[s.i:], []byte(word)) {
		s.fail()
		return
	}
	s.i += len(word)
}

// number consumes a number and returns it as it stands.
func (s *scanner) number() []byte {
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
func (s *scanner) at() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// digits consumes one digit or more.
func (s *scanner) digits() {
	start := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	if s.i == start {
		s.fail()
	}
}

// count consumes a value and returns it if it is a whole number that can
// count tokens; anything else is skipped.
func (s *scanner) count() (int, bool) {
	if c := s.peek(); c-'0' > 9 {
		s.skip()
		return 0, false
	}
	lit := s.number()
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

// countOr consumes a value and returns it if it can count tokens, otherwise
// what was known before.
func (s *scanner) countOr(before int) int {
	if n, ok := s.count(); ok {
		return n
	}
	return before
}

// members consumes an object, of whose members the loop reads the values;
// anything else is skipped.
func (s *scanner) members(loop func(name []byte) bool) {
	if s.peek() != '{' {
		s.skip()
		return
	}
	for s.enter(); s.another('}') && loop(s.key()); {
	}
}

// root is members of a text that is to be an object as a whole.
func (s *scanner) root(loop func(name []byte) bool) {
	if s.peek() != '{' {
		s.fail()
		return
	}
	s.members(loop)
}

// elements consumes a list, of which the loop reads the elements; anything else is
// skipped.
func (s *scanner) elements(loop func(position int) bool) {
	if s.peek() != '[' {
		s.skip()
		return
	}
	s.enter()
	for i := 0; s.another(']') && loop(i); i++ {
	}
}

// object consumes a value and returns it as it stands if it is an object.
func (s *scanner) object() text {
	is := s.peek() == '{'
	start := s.i
	s.skip()
	if !is || s.bad {
		return text{}
	}
	return text{raw: s.b[start:s.i]}
}

// optional consumes a value and returns it if it is a non-empty string.
func (s *scanner) optional() text {
	if s.peek() != '"' {
		s.skip()
		return text{}
	}
	return s.str()
}
