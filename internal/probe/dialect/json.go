package dialect

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
)

// maxDepth is the nesting limit of encoding/json.
const maxDepth = 10000

// scanner reads one JSON text without building values, at a few nanoseconds per byte, and checks its syntax. The
// caller names the members that it wants and skips the others. After the first syntax error, every method does
// nothing.
type scanner struct {
	b     []byte
	i     int
	depth int
	fresh bool // the scanner has just entered an object or list
	bad   bool
}

func newScanner(b []byte) scanner { return scanner{b: b} }

// scannerAt returns a scanner inside of an object. The first n bytes must be a valid beginning of the
// object, up to the value of a member.
func scannerAt(b []byte, n int) scanner { return scanner{b: b, i: n, depth: 1} }

// scanned returns the bytes read so far.
func (s *scanner) scanned() []byte { return s.b[:s.i] }

// valid reports whether the whole text has been read without a syntax error.
func (s *scanner) valid() bool { return !s.bad && s.peek() == 0 && s.i == len(s.b) }

func (s *scanner) fail() { s.bad = true }

// peek skips white space and returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	if s.i < len(s.b) && s.b[s.i] > ' ' { // the usual case, short enough to be inlined
		return s.b[s.i]
	}
	return s.peekAfterSpace()
}

func (s *scanner) peekAfterSpace() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// enter consumes an opening bracket that peek has returned. A loop over another must follow.
func (s *scanner) enter() {
	s.i++
	s.depth++
	s.fresh = true
	if s.depth > maxDepth {
		s.fail()
	}
}

// another reports whether another element follows. It consumes the comma before it, or else the
// closing bracket.
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

// key consumes the name of a member and the colon.
func (s *scanner) key() []byte {
	name := s.readString()
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

func (s *scanner) readString() text {
	if s.bad || s.peek() != '"' {
		s.fail()
		return text{}
	}
	s.i++
	t := text{}
	for start := s.i; ; {
		s.i += plainLength(s.b[s.i:])
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
			n := escapeLength(s.b[s.i:])
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
		s.readString()
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

// number consumes a number and returns its text.
func (s *scanner) number() []byte {
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
func (s *scanner) current() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) digits() {
	start := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	if s.i == start {
		s.fail()
	}
}

// count consumes a value. It returns false if the value is not a whole number from 0 to 2⁵³.
func (s *scanner) count() (int, bool) {
	if c := s.peek(); c-'0' > 9 {
		s.skip()
		return 0, false
	}
	digits := s.number()
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

// countOr is count with a default.
func (s *scanner) countOr(other int) int {
	if n, ok := s.count(); ok {
		return n
	}
	return other
}

// members consumes an object; the loop must consume the value of each member. It skips any other
// value.
func (s *scanner) members(loop func(name []byte) bool) {
	if s.peek() != '{' {
		s.skip()
		return
	}
	for s.enter(); s.another('}') && loop(s.key()); {
	}
}

// only is members for the members with one name. It skips the others.
func (s *scanner) only(wanted string) func(loop func() bool) {
	return func(loop func() bool) {
		for name := range s.members {
			if string(name) != wanted {
				s.skip()
			} else if !loop() {
				return
			}
		}
	}
}

// root is members for a text that must be an object.
func (s *scanner) root(loop func(name []byte) bool) {
	if s.peek() != '{' {
		s.fail()
		return
	}
	s.members(loop)
}

// elements consumes a list; the loop must consume each element. It skips any other value.
func (s *scanner) elements(loop func(position int) bool) {
	if s.peek() != '[' {
		s.skip()
		return
	}
	s.enter()
	for i := 0; s.another(']') && loop(i); i++ {
	}
}

// text consumes a value. It returns a string, and nothing for another value.
func (s *scanner) text() text {
	if s.peek() != '"' {
		s.skip()
		return text{}
	}
	return s.readString()
}
