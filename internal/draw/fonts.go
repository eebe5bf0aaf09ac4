package draw

import (
	"codeberg.org/go-fonts/liberation/liberationmonobold"
	"codeberg.org/go-fonts/liberation/liberationmonobolditalic"
	"codeberg.org/go-fonts/liberation/liberationmonoitalic"
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansbolditalic"
	"codeberg.org/go-fonts/liberation/liberationsansitalic"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifbold"
	"codeberg.org/go-fonts/liberation/liberationserifbolditalic"
	"codeberg.org/go-fonts/liberation/liberationserifitalic"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
)

// Fonts are the files that the plotting library parses when the program starts,
// whether or not anything is drawn: 4 MB, of which it touches most. They are
// part of the program's own file, and must not be written to. A program that
// runs for long and draws nothing may give the memory back.
func Fonts() [][]byte {
	return [][]byte{
		liberationmonobold.TTF, liberationmonobolditalic.TTF, liberationmonoitalic.TTF, liberationmonoregular.TTF,
		liberationsansbold.TTF, liberationsansbolditalic.TTF, liberationsansitalic.TTF, liberationsansregular.TTF,
		liberationserifbold.TTF, liberationserifbolditalic.TTF, liberationserifitalic.TTF, liberationserifregular.TTF,
	}
}
