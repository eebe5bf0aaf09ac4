package status

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

// Signal shows how a latency of a kind of turn compares with its baseline, and what can be
// detected.
type Signal struct {
	Turn probe.TurnKind `json:"turn"`
	Name sink.Signal    `json:"signal"`
	// Learning is true before there is a baseline.
	Learning bool `json:"learning"`
	// ratio of the last five minutes to the baseline
	Ratio Multiple `json:"ratio"`
	// Severity is "page" or "ticket" during a regression, which began at Since.
	Severity string    `json:"regressed,omitempty"`
	Since    time.Time `json:"regressed_since,omitzero"`
	// Quarter and Hour are the smallest ratios that page within 15 minutes and within an hour.
	Quarter Multiple `json:"detectable_ratio_15m"`
	Hour    Multiple `json:"detectable_ratio_1h"`
	// FalsePages is the expected number of false pages in 30 days, History the period it is
	// computed from.
	FalsePages Number   `json:"expected_false_pages_30d"`
	History    Duration `json:"history_seconds"`
	// time at which a lasting level last became the baseline
	Moved time.Time `json:"moved_at,omitzero"`
}

// signals returns the signals of a job that have turns or a history.
func (p *Page) signals(key probe.Key) []Signal {
	out := []Signal{}
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

func signalOf(kind probe.TurnKind, name sink.Signal, v baseline.View) Signal {
	s := Signal{
		Turn: kind, Name: name, Learning: v.Young, Ratio: multiple(v.Ratio), Since: v.Since.UTC(), Moved: v.Moved.UTC(),
		Quarter: multiple(v.Detectable[0]), Hour: multiple(v.Detectable[1]),
		FalsePages: Number{V: v.Expected, OK: v.History > 0 && !math.IsNaN(v.Expected)},
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

// Title returns the name that other tables use.
func (s Signal) Title() string {
	return strings.ToUpper(string(s.Name)) + ", " + kindNames()[s.Turn]
}

// Span returns the length of the history, in days from two days on.
func (s Signal) Span() string {
	switch days := s.History.V.Hours() / 24; {
	case days >= 2:
		return fmt.Sprintf("%.0f days", days)
	case days == 0:
		return "none yet"
	}
	return s.History.String()
}

// State returns the state of the signal.
func (s Signal) State() state {
	switch {
	case s.Severity == "" && s.Learning:
		return state{"unknown", "still learning"}
	case s.Severity == "":
		return state{"good", "as usual"}
	}
	out := state{"warn", "slower: " + s.Severity}
	if s.Severity == "page" {
		out.Class = "bad"
	}
	if !s.Since.IsZero() {
		out.Text += " since " + s.Since.Format("01-02 15:04 MST")
	}
	return out
}

// Multiple is a ratio of levels that may be undefined, or infinite if no ratio qualifies. In
// JSON it is a number, null, or "+Inf".
type Multiple probe.Opt[float64]

// multiple is undefined for values that are no ratio.
func multiple(v float64) Multiple { return Multiple{V: v, OK: v > 0} }

func (m Multiple) String() string {
	switch {
	case !m.OK:
		return "n/a"
	case math.IsInf(m.V, 1):
		return "nothing"
	}
	return fmt.Sprintf("×%.2f", m.V)
}

// MarshalJSON implements json.Marshaler.
func (m Multiple) MarshalJSON() ([]byte, error) {
	switch {
	case !m.OK:
		return []byte("null"), nil
	case math.IsInf(m.V, 1):
		return []byte(`"+Inf"`), nil
	}
	return json.Marshal(m.V)
}

// Number is a finite number that may be undefined ("n/a", null in JSON).
type Number probe.Opt[float64]

func (n Number) String() string {
	if !n.OK {
		return "n/a"
	}
	if n.V > 0 && n.V < 0.001 { // a smaller number says nothing more
		return "< 0.001"
	}
	return fmt.Sprintf("%.2g", n.V)
}

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.OK {
		return []byte("null"), nil
	}
	return json.Marshal(n.V)
}
