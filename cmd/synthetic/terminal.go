package main

import (
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/status"
)

// colour is the number of a terminal's colour.
type colour string

const (
	uncoloured colour = ""
	bad        colour = "31"
	good       colour = "32"
	warning    colour = "33"
	event      colour = "36"
)

// paint is true if the terminal shows colours.
type paint bool

func (p paint) coloured(c colour, text string) string {
	if !p || c == uncoloured {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// commandLine returns a command of this program as a shell takes it, with the program's name as
// the user has typed it.
func commandLine(args ...string) string {
	words := append([]string{os.Args[0]}, args...)
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, needsQuotes) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func needsQuotes(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_=./:,@%+", r)
}

// wrapLines breaks a text between words into lines of at most width columns. A longer word
// gets a line of its own. A width below 1 means no limit.
func wrapLines(text string, width int) []string {
	var lines []string
	used := 0
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		if len(lines) == 0 || width > 0 && used+1+n > width {
			lines, used = append(lines, word), n
			continue
		}
		lines[len(lines)-1] += " " + word
		used += 1 + n
	}
	return lines
}

// sparkWidth is how many turns a sparkline shows.
const sparkWidth = 48

// sparkline draws the TTFT of the last turns of a kind as bars from 0 to the longest, which
// it returns. × is a turn without a token.
func sparkline(points []status.Point, kind probe.TurnKind) (bars string, longest status.Duration) {
	var shown []time.Duration // newest first
	for _, p := range slices.Backward(points) {
		if p.Kind == kind && len(shown) < sparkWidth {
			shown = append(shown, finite(p.TTFT))
		}
	}
	longest.V = slices.Max(append(shown, 0))
	longest.OK = longest.V > 0
	var b strings.Builder
	for _, ttft := range slices.Backward(shown) {
		b.WriteRune(spark(ttft, longest.V))
	}
	return b.String(), longest
}

// finite returns a duration, 0 if it is unknown or longer than a day.
func finite(d status.Duration) time.Duration {
	if !d.OK || d.V > 24*time.Hour {
		return 0
	}
	return d.V
}

func spark(d, longest time.Duration) rune {
	bars := []rune("▁▂▃▄▅▆▇█")
	if d <= 0 {
		return '×'
	}
	return bars[int(d*time.Duration(len(bars)-1)/longest)]
}
