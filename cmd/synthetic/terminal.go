package main

import (
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/status"
)

// colour is one that a terminal gives a meaning, as its number; plainly is none.
type colour string

const (
	plainly colour = ""
	bad     colour = "31"
	good    colour = "32"
	warning colour = "33"
	event   colour = "36"
)

// paint says whether texts are coloured.
type paint bool

func (p paint) in(c colour, text string) string {
	if !p || c == plainly {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// wrapped breaks a text between words into lines of at most width columns, but
// for a word that is longer; a width below 1 is none.
func wrapped(text string, width int) []string {
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

// sparkline draws the TTFT of the last turns of a kind as bars from 0 to the
// longest of them, which it returns; × is a turn without a token.
func sparkline(points []status.Point, kind probe.TurnKind) (bars string, most status.Duration) {
	var shown []status.Duration
	for i := len(points) - 1; i >= 0 && len(shown) < sparkWidth; i-- {
		if points[i].Kind == kind {
			shown = append(shown, points[i].TTFT)
			most.V = max(most.V, finite(points[i].TTFT))
		}
	}
	most.OK = most.V > 0
	var b strings.Builder
	for i := len(shown) - 1; i >= 0; i-- {
		b.WriteRune(spark(finite(shown[i]), most.V))
	}
	return b.String(), most
}

// finite is a duration, or 0 where there is none.
func finite(d status.Duration) time.Duration {
	if !d.OK || d.V > 24*time.Hour {
		return 0
	}
	return d.V
}

func spark(d, most time.Duration) rune {
	bars := []rune("▁▂▃▄▅▆▇█")
	if d <= 0 {
		return '×'
	}
	return bars[int(d*time.Duration(len(bars)-1)/most)]
}
