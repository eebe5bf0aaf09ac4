package status

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers"
)

// turnsView is what the template of the single turns gets.
type turnsView struct {
	head
	Target, Workload, Conversation string
	OnlyFailed                     bool
	Turns                          []turnRow
}

// turnRow is one turn as it is shown.
type turnRow struct {
	probe.Result
	Bars []bar
}

// State is the turn's outcome with its colour.
func (t turnRow) State() state {
	switch {
	case t.Outcome == probe.Success:
		return state{"good", string(t.Outcome)}
	case t.Outcome.Failed():
		return state{"bad", string(t.Outcome)}
	}
	return state{"unknown", string(t.Outcome)}
}

// OddText says what is odd about the answer, "" for nothing.
func (t turnRow) OddText() string {
	switch t.Odd {
	case "":
		return ""
	case answers.Model:
		return fmt.Sprintf("answered by another model than %s: %s", t.Model, t.AnsweredBy)
	}
	return "the answer looks like rubbish: " + string(t.Odd)
}

// Figures are the turn's latencies, names and values.
func (t turnRow) Figures() [][2]string {
	out := [][2]string{{"TTFT", Duration(t.TTFT).String()}}
	if t.AnswerTTFT != t.TTFT {
		out = append(out, [2]string{"answer TTFT", Duration(t.AnswerTTFT).String()})
	}
	return append(out,
		[2]string{"TPOT", Duration(t.TPOT).String()},
		[2]string{"duration", short(t.Duration())},
		[2]string{"prompt", count(t.PromptTokens)},
		[2]string{"cached", count(t.CachedTokens)},
		[2]string{"output", count(t.OutputTokens)},
	)
}

// Connection says what the turn went over.
func (t turnRow) Connection() string {
	if t.Phases.Reused {
		return "kept connection"
	}
	return "new connection"
}

func count(n probe.Opt[int]) string {
	if !n.OK {
		return "n/a"
	}
	return fmt.Sprint(n.V)
}

// bar is one part of a turn. X and Width are percents of the scale.
type bar struct {
	X, Width float64
	Part     Part   // also its CSS class
	Text     string // what it is called and how long it took
}

// bars are the parts of a turn as they are drawn, on a scale of so long.
func bars(r probe.Result, scale time.Duration) []bar {
	names := map[Part]string{
		DNS: "DNS", TLS: "TLS", FirstEvent: "first event", FirstToken: "first token",
		Failed: "until " + string(r.Outcome), Rest: "until the end",
	}
	total := float64(max(scale, 1))
	var out []bar
	for _, b := range Bars(r) {
		name := cmp.Or(names[b.Part], string(b.Part))
		out = append(out, bar{percent(float64(b.From) / total), percent(float64(b.To-b.From) / total), b.Part, name + " " + short(b.To-b.From)})
	}
	return out
}

// percent turns a share into a percent, kept to two digits and on the page.
func percent(share float64) float64 {
	return math.Round(min(max(share, 0), 1)*10000) / 100
}
