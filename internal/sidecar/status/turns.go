package status

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

type turnsView struct {
	head
	Target, Workload, Conversation string
	OnlyFailed                     bool
	Turns                          []turnRow
}

type turnRow struct {
	probe.Result
	Bars []bar
}

// Anchor returns the id of the turn on the page of turns. Incidents that old versions saved have no span.
func (t turnRow) Anchor() string {
	if t.SpanID == "" {
		return t.TraceID
	}
	return t.TraceID + "-" + t.SpanID
}

func (t turnRow) State() state {
	switch {
	case t.Recall.Result == recall.Foreign:
		return state{"bad", "foreign answer"}
	case t.Outcome == probe.Success:
		return state{"good", string(t.Outcome)}
	case t.Outcome.Failed():
		return state{"bad", string(t.Outcome)}
	}
	return state{"unknown", string(t.Outcome)}
}

// OddText describes a wrong answer or one of another model, "" for a normal one.
func (t turnRow) OddText() string {
	texts := []string{recallText(t.Recall.Result), t.otherModelText()}
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "; ")
}

func (t turnRow) otherModelText() string {
	if !t.IsOtherModel() {
		return ""
	}
	return fmt.Sprintf("answered by another model than %s: %s", t.Model, t.AnsweredBy)
}

// Figures returns the names and values of the turn's latencies.
func (t turnRow) Figures() [][2]string {
	out := [][2]string{{"TTFT", Duration(t.TTFT).String()}}
	if t.AnswerTTFT != t.TTFT {
		out = append(out, [2]string{"answer TTFT", Duration(t.AnswerTTFT).String()})
	}
	if text := describeGateway(t.Gateway); text != "" {
		out = append(out, [2]string{"gateway", text})
	}
	return append(out,
		[2]string{"TPOT", Duration(t.TPOT).String()},
		[2]string{"duration", short(t.Duration())},
		[2]string{"prompt", count(t.PromptTokens)},
		[2]string{"cached", count(t.CachedTokens)},
		[2]string{"output", count(t.OutputTokens)},
	)
}

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

// bar is a part of a turn. X and Width are percentages of the scale.
type bar struct {
	X, Width float64
	Part     turnPart // also its CSS class
	Text     string   // name and duration
}

// bars returns the parts of a turn on a time scale.
func bars(r probe.Result, scale time.Duration) []bar {
	names := map[turnPart]string{
		partDNS: "DNS", partTLS: "TLS", partFirstEvent: "first event", partFirstToken: "first token",
		partFailed: "until " + string(r.Outcome), partRest: "until the end",
	}
	total := float64(max(scale, 1))
	var out []bar
	for _, i := range intervals(r) {
		name, length := cmp.Or(names[i.part], string(i.part)), i.to-i.from
		out = append(out, bar{
			percent(float64(i.from) / total), percent(float64(length) / total), i.part, name + " " + short(length),
		})
	}
	return out
}

// percent converts a share to a percentage from 0 to 100, with two digits.
func percent(share float64) float64 {
	return math.Round(min(max(share, 0), 1)*10000) / 100
}
