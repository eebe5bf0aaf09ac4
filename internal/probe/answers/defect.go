package answers

import (
	"hash/maphash"
	"unicode"
	"unicode/utf8"
)

// Defect is why an answer looks damaged; "" means that it looks normal. The values are label
// values. The checks prefer to miss a damaged answer over blaming an unusual one.
type Defect string

const (
	// Repetition: most of the last 512 bytes repeat earlier bytes of them.
	Repetition Defect = "repetition"
	// characters: control, private-use and replacement characters.
	characters Defect = "characters"
	// symbols: almost no letters and digits.
	symbols Defect = "symbols"
	// mixedScripts: the script changes within words.
	mixedScripts Defect = "scripts"
	// Length: the number of tokens is far from the baseline.
	Length Defect = "length"
	// language: the baseline has almost no answers in this script.
	language Defect = "language"
	// Model: the server named another model than the requested one.
	Model Defect = "model"
)

// Defects returns all defects.
func Defects() []Defect {
	return []Defect{Repetition, characters, symbols, mixedScripts, Length, language, Model}
}

const (
	// inspectedBytes is how much of the end of an answer is inspected. Once a model produces
	// rubbish, it does so until the end.
	inspectedBytes = 2 << 10
	// minText is the minimum length of an inspected text in bytes. Laughter, a table rule or a
	// row of emojis can be a complete short answer.
	minText = 64
)

type features struct {
	defect Defect
	// script is the most frequent one, or noScript if there are too few letters.
	script script
}

func inspect(text string) features {
	text = text[max(len(text)-inspectedBytes, 0):]
	c := count(text)
	f := features{script: c.mainScript()}
	switch {
	case len(text) < minText:
	case c.invalid >= 4 && c.invalid*50 >= c.visible:
		f.defect = characters
	case repeats(text):
		f.defect = Repetition
	case c.visible >= minText && c.alphanumeric*7 < c.visible:
		f.defect = symbols
	case c.switches >= 4 && c.switches*50 >= c.letters:
		f.defect = mixedScripts
	}
	return f
}

// counts are numbers of characters.
type counts struct {
	// visible counts all but spaces, alphanumeric the letters, marks and digits, invalid the
	// characters that no text contains.
	visible, alphanumeric, invalid int
	letters                        int
	byScript                       [scripts]int
	// switches counts pairs of adjacent letters whose scripts no language mixes.
	switches int
}

func count(text string) counts {
	var c counts
	last := noScript
	for i, size := 0, 0; i < len(text); i += size {
		r := rune(text[i])
		if size = 1; r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		switch s := scriptOf(r); {
		case s != noScript:
			if last != noScript && neverMixed(last, s) {
				c.switches++
			}
			c.letters++
			c.byScript[s]++
			last = s
		case r >= utf8.RuneSelf && unicode.Is(unicode.M, r): // a mark belongs to its letter
			c.alphanumeric++
		default:
			last = noScript
			c.countOther(r)
		}
	}
	c.alphanumeric += c.letters
	c.visible += c.alphanumeric
	return c
}

func (c *counts) countOther(r rune) {
	switch {
	case '0' <= r && r <= '9' || r >= utf8.RuneSelf && unicode.IsNumber(r):
		c.alphanumeric++
	case unicode.IsSpace(r):
	case r == utf8.RuneError || unicode.IsControl(r) || r >= utf8.RuneSelf && unicode.Is(unicode.Co, r):
		c.invalid++
		c.visible++
	default:
		c.visible++
	}
}

func (c *counts) mainScript() script {
	if c.letters < minText/2 {
		return noScript
	}
	best := noScript
	for s, n := range c.byScript {
		if n > c.byScript[best] {
			best = script(s)
		}
	}
	return best
}

const (
	// tailBytes is the part of an answer that is searched for repetition: short enough to
	// detect a loop that began late, long enough for a loop of about 80 bytes.
	tailBytes = 512
	// pieceBytes is the length of the compared pieces. It is longer than words, so that a text
	// with a small vocabulary does not count as repetition.
	pieceBytes = 12
)

// repeats reports whether less than a fifth of the overlapping pieces of the tail are distinct.
func repeats(text string) bool {
	text = text[max(len(text)-tailBytes, 0):]
	total := len(text) - pieceBytes + 1
	return distinctPieces(text)*5 < total
}

// distinctPieces counts the distinct pieces of a text of at most tailBytes. Its hash table is an array, because a map of
// 500 pieces was a third of all garbage of a turn. The seed keeps a server from choosing pieces of one hash.
func distinctPieces(text string) (n int) {
	var table [2 * tailBytes]uint16 // where a piece of this hash begins, plus 1; 0 if there is none
	seed := maphash.MakeSeed()
	for i := range len(text) - pieceBytes + 1 {
		piece := text[i : i+pieceBytes]
		at := maphash.String(seed, piece) % uint64(len(table))
		for table[at] != 0 && text[table[at]-1:][:pieceBytes] != piece {
			at = (at + 1) % uint64(len(table))
		}
		if table[at] == 0 {
			table[at] = uint16(i + 1)
			n++
		}
	}
	return n
}

// script is one writing system, or several that are used together.
type script uint8

const (
	noScript script = iota
	latin
	greek
	cyrillic
	arabic
	hebrew
	indic
	thai
	eastAsian
	otherScript
	scripts
)

// scriptOf returns the script of a letter, or noScript for any other character. It compares
// ranges, because the tables of package unicode take ten times as long.
func scriptOf(r rune) script {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return latin
	case r < 0xaa || !unicode.IsLetter(r):
		return noScript
	case r < 0x250, 0x1e00 <= r && r < 0x1f00:
		return latin
	case 0x370 <= r && r < 0x400, 0x1f00 <= r && r < 0x2000:
		return greek
	case 0x400 <= r && r < 0x530:
		return cyrillic
	case 0x590 <= r && r < 0x600:
		return hebrew
	case 0x600 <= r && r < 0x780:
		return arabic
	case 0x900 <= r && r < 0xe00:
		return indic
	case 0xe00 <= r && r < 0xf00:
		return thai
	case 0x1100 <= r && r < 0x1200, 0x2e80 <= r && r < 0xd800, 0xf900 <= r && r < 0xfb00,
		0xff66 <= r && r < 0xffe0, 0x20000 <= r && r < 0x32000:
		return eastAsian
	}
	return otherScript
}

// neverMixed reports whether no language puts letters of the two scripts next to each other.
// Texts in scripts without spaces contain Latin and Greek names and symbols.
func neverMixed(a, b script) bool {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == b, b == otherScript: // small capitals, phonetic and mathematical letters
		return false
	case a == latin:
		return b != greek && b != eastAsian && b != thai
	}
	return true
}
