package status

import (
	"cmp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/waterfall"
)

// bar is one part of a turn. X and Width are percents of the turn's duration.
type bar struct {
	X, Width float64
	Part     waterfall.Part // also its CSS class
	Text     string         // what it is called and how long it took
}

// bars are the parts of a turn as they are drawn.
func bars(r probe.Result) []bar {
	names := map[waterfall.Part]string{
		waterfall.DNS: "DNS", waterfall.TLS: "TLS", waterfall.FirstEvent: "first event", waterfall.FirstToken: "first token",
		waterfall.Failed: "until " + string(r.Outcome), waterfall.Rest: "until the end",
	}
	total := float64(r.Duration())
	var out []bar
	for _, b := range waterfall.Bars(r) {
		name := cmp.Or(names[b.Part], string(b.Part))
		out = append(out, bar{percent(float64(b.From) / total), percent(float64(b.To-b.From) / total), b.Part, name + " " + short(b.To-b.From)})
	}
	return out
}
