package status

import (
	"fmt"
	"strings"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/sidecar/watch"
	"synthetic/internal/slo"
)

// signalState compares a timing of a job with what is usual, and says why it pages or why not yet.
type signalState struct {
	Name slo.SLI `json:"signal"`
	// Learning is true before anything is compared, OnlySteps while only sudden rises page.
	Learning  bool `json:"learning"`
	OnlySteps bool `json:"only_sudden_rises_page"`
	// ratio of the last five minutes to what is usual, and the one from which it pages
	Ratio multiple `json:"ratio"`
	Limit multiple `json:"limit_ratio"`
	// Severity is "page" or "ticket" during a regression, which began at Since.
	Severity string    `json:"regressed,omitempty"`
	Since    time.Time `json:"regressed_since,omitzero"`
	// Hour is the smallest ratio that pages within an hour.
	Hour multiple `json:"detectable_ratio_1h"`
	// Decision is why the signal pages, or why not yet, while it is slower than usual; Why says so in two sentences.
	Decision *watch.Decision `json:"decision,omitempty"`
	Why      string          `json:"why,omitempty"`
	// time at which a lasting level last became the usual one
	Moved time.Time `json:"moved_at,omitzero"`

	now, next time.Time // of the snapshot, and when more rises can page
}

// slower is the ratio from which a signal is slower than usual.
const slower = 1.1

// signals returns the signals of a job that have turns or are known, with times in the zone of its users; nil means UTC.
func signals(r *watch.Reading, now time.Time, zone *time.Location) []signalState {
	out := []signalState{}
	for i, name := range fleet.Signals() {
		if v := &r.Signals[i]; v.HalfHours > 0 || r.Moments[0][i].Turns+r.Moments[1][i].Turns > 0 {
			out = append(out, signalOf(name, v, now, zone))
		}
	}
	return out
}

func signalOf(name slo.SLI, v *watch.View, now time.Time, zone *time.Location) signalState {
	s := signalState{
		now: now, next: v.Next,
		Name: name, Learning: v.Learning, OnlySteps: v.OnlySteps, Ratio: multiple(v.Ratio), Limit: multiple(v.Limit),
		Since: v.Since.UTC(), Moved: v.Moved.UTC(), Hour: multiple(v.Detectable),
	}
	d := v.Decision
	switch {
	case v.Page >= 1, v.Ticket >= 1:
		s.Severity, s.Decision, s.Why = "ticket", &d, d.Why(zone)
		if v.Page >= 1 {
			s.Severity = "page"
		}
	case v.Told > 1:
		s.Decision, s.Why = &d, fmt.Sprintf("A rise to %.2f times was reported and is still up. Only more is reported again.", v.Told)
	case v.Ratio.V >= slower && !v.Learning:
		s.Decision, s.Why = &d, d.Why(zone)
	}
	return s
}

func (s signalState) Title() string { return strings.ToUpper(string(s.Name)) }

func (s signalState) State() state {
	switch {
	case s.Severity == "" && s.Learning:
		return state{"unknown", "still learning"}
	case s.Severity == "" && s.Why != "":
		return state{"unknown", "a little slower than usual"}
	case s.Severity == "" && s.OnlySteps:
		return state{"unknown", "as usual; in the first week only sudden rises page"}
	case s.Severity == "":
		return state{"unknown", "as usual"}
	}
	out := state{"warn", "slower"}
	if s.Severity == "page" {
		out.Class = "bad"
	}
	if !s.Since.IsZero() {
		out.Text += " since " + near(s.Since, s.now)
	}
	return out
}

// near formats a time in UTC, with the date if it is far from now.
func near(at, now time.Time) string {
	if at.Sub(now).Abs() >= 12*time.Hour {
		return at.UTC().Format("01-02 15:04")
	}
	return at.UTC().Format("15:04")
}

// canPage names the pages that are possible now, and the earliest time of the others; "" if all are possible. The signal
// that knows least decides.
func canPage(signals []signalState) string {
	out := ""
	for _, s := range signals {
		switch next := near(s.next, s.now); {
		case s.Learning:
			return "Failures and missed objectives can page now, sudden rises of latency from " + next +
				" UTC on, slow rises after a week of turns."
		case s.OnlySteps:
			out = "Failures, missed objectives and sudden rises of latency can page now, slow rises from " + next + " UTC on."
		}
	}
	return out
}
