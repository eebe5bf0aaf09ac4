// Package garble tells answers that no reader would take for one: a model whose
// numbers overflow says "!!!!", one whose weights or cache are damaged repeats
// itself or strings pieces of alphabets together. It looks at texts alone, costs
// no tokens and microseconds, and prefers to miss rubbish over accusing an odd
// answer: what looks like words of one language is nothing to it.
package answers

import (
	"unicode"
	"unicode/utf8"
)

// Reason is why an answer is taken for rubbish, "" if it is not. The values are
// those of a label.
type Reason string

const (
	// Repetition: nearly everything in the last 512 bytes came before in them.
	Repetition Reason = "repetition"
	// Characters that no text has: control, private and replacement characters.
	Characters Reason = "characters"
	// Symbols: hardly a letter or a digit.
	Symbols Reason = "symbols"
	// Scripts: alphabets change within words.
	Scripts Reason = "scripts"
	// Length: far from the usual number of tokens, of this kind of turn.
	Length Reason = "length"
	// Language: a script in which this kind of turn is not answered.
	Language Reason = "language"
	// Model: no rubbish, but by another model than the one that was asked.
	Model Reason = "model"
)

// Reasons lists them all.
func Reasons() []Reason {
	return []Reason{Repetition, Characters, Symbols, Scripts, Length, Language, Model}
}

const (
	// looked is how much of an answer's end is looked at, in bytes: rubbish that
	// has begun goes on to the end.
	looked = 2 << 10
	// leastText is the least text, in bytes, that is told anything of: laughter, a
	// rule of a table or a row of smileys may stand alone.
	leastText = 64
)

// Look is what one text says by itself.
type Look struct {
	Reason Reason
	// script is the one that most letters are of, none for too few letters.
	script script
}

// Of looks at an answer.
func GarbleOf(text string) Look {
	text = text[max(len(text)-looked, 0):]
	c := count(text)
	l := Look{script: c.most()}
	switch {
	case len(text) < leastText:
	case c.foreign >= 4 && c.foreign*50 >= c.visible:
		l.Reason = Characters
	case repeats(text):
		l.Reason = Repetition
	case c.visible >= leastText && c.wordly*7 < c.visible:
		l.Reason = Symbols
	case c.switches >= 4 && c.switches*50 >= c.letters:
		l.Reason = Scripts
	}
	return l
}

// counts are of the characters of a text.
type counts struct {
	// visible are all but spaces, wordly those of them that are letters, marks
	// and digits, foreign those that no text has.
	visible, wordly, foreign int
	letters                  int
	of                       [scripts]int
	// switches are how often a letter follows one of another alphabet at once.
	switches int
}

func count(text string) counts {
	var c counts
	last := none
	for i, size := 0, 0; i < len(text); i += size {
		r := rune(text[i])
		if size = 1; r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		switch s := scriptOf(r); {
		case s != none:
			if last != none && strange(last, s) {
				c.switches++
			}
			c.letters++
			c.of[s]++
			last = s
		case r >= utf8.RuneSelf && unicode.Is(unicode.M, r): // it belongs to its letter
			c.wordly++
		default:
			last = none
			c.other(r)
		}
	}
	c.wordly += c.letters
	c.visible += c.wordly
	return c
}

// other counts what is no letter.
func (c *counts) other(r rune) {
	switch {
	case '0' <= r && r <= '9' || r >= utf8.RuneSelf && unicode.IsNumber(r):
		c.wordly++
	case unicode.IsSpace(r):
	case r == utf8.RuneError || unicode.IsControl(r) || r >= utf8.RuneSelf && unicode.Is(unicode.Co, r):
		c.foreign++
		c.visible++
	default:
		c.visible++
	}
}

// most is the script of most of the letters.
func (c *counts) most() script {
	best := none
	for s, n := range c.of {
		if n > c.of[best] {
			best = script(s)
		}
	}
	if c.letters < leastText/2 {
		return none
	}
	return best
}

const (
	// tail is the part of an answer, in bytes, in which repetition is looked for:
	// so little that a loop shows which began late, so much that a loop of some
	// eighty bytes does.
	tail = 512
	// gram is the length of the pieces, in bytes, that are told apart: longer than
	// words, so that a text of few words is none that repeats itself.
	gram = 12
)

// repeats reports whether less than a fifth of the pieces of the tail are
// different ones.
func repeats(text string) bool {
	text = text[max(len(text)-tail, 0):]
	const base = 0x100000001b3 // FNV's prime
	high := uint64(1)
	for range gram {
		high *= base
	}
	var seen [64]uint64 // bits
	var hash uint64
	different := 0
	for i := range len(text) {
		hash = hash*base + uint64(text[i])
		if i >= gram {
			hash -= high * uint64(text[i-gram])
		}
		if i < gram-1 {
			continue
		}
		at := hash * 0x9e3779b97f4a7c15 >> 52
		if bit := uint64(1) << (at % 64); seen[at/64]&bit == 0 {
			seen[at/64] |= bit
			different++
		}
	}
	return different*5 < len(text)-gram+1
}
