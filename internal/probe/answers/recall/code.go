// Package recall makes reference codes, which conversations contain and answers repeat, and judges
// whether an answer has the right one. A code has check characters: a text that contains a valid code
// contains text of a conversation of some prober. So a code of another conversation is recognised
// without a list of codes, also if another prober, or this one before a restart, planted it.
package recall

import (
	"crypto/sha256"
	"math/rand/v2"
	"strings"
)

// Code is a reference code: three groups of five characters, joined by hyphens. Each group starts with
// a digit. The first seven characters are random, the other eight follow from them. Random characters
// of this form are valid with probability 2^-38, or 3.6e-12.
type Code string

const (
	group, length = 5, 15
	random        = 7
	// symbols are the characters of codes. They lack 0, 1, I and O, which models confuse.
	symbols = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
	digits  = "23456789"
	// salt comes before the random characters in the hash that gives the other ones.
	salt = "synthetic reference "
)

// New returns a random code.
func New(rng *rand.Rand) Code {
	var c [length]byte
	for i := range random {
		c[i] = symbol(i, byte(rng.Uint32()))
	}
	check(&c)
	return format(&c)
}

// symbol returns the character at place i for a value.
func symbol(i int, value byte) byte {
	if i%group == 0 {
		return digits[value%8]
	}
	return symbols[value%32]
}

// check sets the characters that follow from the random ones.
func check(c *[length]byte) {
	var text [len(salt) + random]byte // on the stack
	copy(text[:], salt)
	copy(text[len(salt):], c[:random])
	sum := sha256.Sum256(text[:])
	for i := random; i < length; i++ {
		c[i] = symbol(i, sum[i])
	}
}

func format(c *[length]byte) Code {
	return Code(string(c[:group]) + "-" + string(c[group:2*group]) + "-" + string(c[2*group:]))
}

// Find returns the valid codes in a text. Only the order of letters and digits counts: case, hyphens,
// spaces and markdown do not.
func Find(text string) (found []Code) {
	compact := make([]byte, 0, len(text))
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z':
			compact = append(compact, c-'a'+'A')
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			compact = append(compact, c)
		}
	}
	for ; len(compact) >= length; compact = compact[1:] {
		if window := [length]byte(compact); valid(&window) {
			found = append(found, format(&window))
		}
	}
	return found
}

func valid(c *[length]byte) bool {
	for i := 0; i < length; i += group { // rejects nearly all texts before the hash
		if strings.IndexByte(digits, c[i]) < 0 {
			return false
		}
	}
	for _, b := range c {
		if strings.IndexByte(symbols, b) < 0 {
			return false
		}
	}
	expected := *c
	check(&expected)
	return expected == *c
}
