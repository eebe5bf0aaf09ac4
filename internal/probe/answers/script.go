package answers

import "unicode"

// script is an alphabet, or several that are written together.
type script uint8

const (
	none script = iota
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

// scriptOf returns the script of a letter, none for what is no letter. Blocks
// are enough: the tables of package unicode cost ten times as much.
func scriptOf(r rune) script {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return latin
	case r < 0xaa || !unicode.IsLetter(r):
		return none
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
	case 0x1100 <= r && r < 0x1200, 0x2e80 <= r && r < 0xd800, 0xf900 <= r && r < 0xfb00, 0xff66 <= r && r < 0xffe0, 0x20000 <= r && r < 0x32000:
		return eastAsian
	}
	return otherScript
}

// strange reports whether no language puts letters of two scripts side by side.
// Names and symbols in Latin and Greek letters stand in texts without spaces.
func strange(a, b script) bool {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == b, b == otherScript: // small capitals, letters of phonetics and mathematics
		return false
	case a == latin:
		return b != greek && b != eastAsian && b != thai
	}
	return true
}
