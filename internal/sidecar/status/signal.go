package status

import (
	"fmt"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

// signalState compares a latency of a kind of turn with its baseline, and shows which rise can
// be detected.
type signalState struct {
	Turn probe.TurnKind `json:"turn"`
	Name sink.Signal    `json:"signal"`
	// Learning is true before there is a baseline, OnlySteps while only sudden rises page.
	Learning  bool `json:"learning"`
	OnlySteps bool `json:"only_sudden_rises_page"`
	// ratio of the last five minutes to the baseline
	Ratio multiple `json:"ratio"`
	// Severity is "page" or "ticket" during a regression, which began at Since.
	Severity string    `json:"regressed,omitempty"`
	Since    time.Time `json:"regressed_since,omitzero"`
	// Quarter and Hour are the smallest ratios that page within 15 minutes and within an hour.
	Quarter multiple `json:"detectable_ratio_15m"`
	Hour    multiple `json:"detectable_ratio_1h"`
	// FalsePages is the expected number of false pages in 30 days, History the period it is
	// computed from.
	FalsePages number   `json:"expected_false_pages_30d"`
	History    Duration `json:"history_seconds"`
	// time at which a lasting level was last accepted as the baseline
	Moved time.Time `json:"moved_at,omitzero"`
}

// signals returns the signals of a job that have turns or a history.
func (p *Page) signals(key probe.Key) []signalState {
	out := []signalState{}
	reading, ok := p.options.Baseline(key)
	if !ok {
		return out
	}
	for k, kind := range probe.TurnKinds() {
		for i, name := range sink.Signals() {
			if v := reading.Views[k][i]; v.Turns > 0 || v.History > 0 {
				out = append(out, signalOf(kind, name, v))
			}
		}
	}
	return out
}

func signalOf(kind probe.TurnKind, name sink.Signal, v baseline.View) signalState {
	s := signalState{
		Turn: kind, Name: name, Learning: v.Young, OnlySteps: v.OnlySteps, Ratio: multiple(v.Ratio), Since: v.Since.UTC(), Moved: v.Moved.UTC(),
		Quarter: multiple(v.Detectable[0]), Hour: multiple(v.Detectable[1]),
		FalsePages: number(v.Expected),
		History:    Duration(probe.Some(v.History)),
	}
	switch {
	case v.Page >= 1:
		s.Severity = "page"
	case v.Ticket >= 1:
		s.Severity = "ticket"
	}
	return s
}

func (s signalState) Title() string {
	return strings.ToUpper(string(s.Name)) + ", " + kindNames()[s.Turn]
}

// Span returns the length of the history, in days from two days on.
func (s signalState) Span() string {
	switch days := s.History.V.Hours() / 24; {
	case days >= 2:
		return fmt.Sprintf("%.0f days", days)
	case days == 0:
		return "none yet"
	}
	return s.History.String()
}

func (s signalState) State() state {
	switch {
	case s.Severity == "" && s.Learning:
		return state{"unknown", "still learning"}
	case s.Severity == "" && s.OnlySteps:
		return state{"good", "as usual; in the first week only sudden rises page"}
	case s.Severity == "":
		return state{"good", "as usual"}
	}
	out := state{"warn", "slower: " + s.Severity}
	if s.Severity == "page" {
		out.Class = "bad"
	}
	if !s.Since.IsZero() {
		out.Text += " since " + s.Since.Format("01-02 15:04")
	}
	return out
}
