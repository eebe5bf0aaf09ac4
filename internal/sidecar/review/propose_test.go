package review

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// TestFigures: thresholds are ascending, and never change their positions, which files hold.
func TestFigures(t *testing.T) {
	for i, d := range ladder {
		if figureOf(d) != i || figureOf(d+1) != i+1 || figureOf(d-1) != i {
			t.Errorf("%v is at %d, want %d", d, figureOf(d), i)
		}
	}
	for at, want := range map[int]string{0: "1ms", 6: "8ms", 7: "10ms", 15: "60ms", 27: "1s", 29: "1500ms", 31: "2500ms", 47: "100s"} {
		if got := FormatThreshold(ladder[at]); got != want {
			t.Errorf("figure %d is %s, want %s", at, got, want)
		}
	}
}

var chat = probe.Key{Target: "a", Workload: "chat"}

// past makes a history of one job: 600 turns an hour. ttft returns the TTFT of each turn, 0 for a failure.
func past(days int, ttft func(day, hour, n int) time.Duration) *History {
	found := slots{}
	for d := range days {
		for h := range 24 {
			s := found.at(chat, noon.Truncate(oneDay).AddDate(0, 0, d).Add(time.Duration(h)*time.Hour))
			for n := range 600 {
				r := turn(s.Start, probe.Success)
				if r.TTFT.V = ttft(d, h, n); r.TTFT.V == 0 {
					r.Outcome, r.TTFT.OK = probe.HTTP5xx, false
				}
				r.TPOT = probe.Opt[time.Duration]{V: 33 * time.Millisecond, OK: r.TTFT.OK}
				s.Turns++
				if r.Outcome.Failed() {
					s.Failed++
				}
				s.TTFT.count(r, slo.TTFT)
				s.TPOT.count(r, slo.TPOT)
			}
		}
	}
	return found.history("a test", time.Hour, 1000*time.Hour)
}

// TestPropose: the proposal is the shortest figure that was kept with half of the budget, or a smaller share of
// turns where the rest are outliers.
func TestPropose(t *testing.T) {
	const second = time.Second
	today := []slo.Objective{{Name: "ttft", SLI: slo.TTFT, Threshold: second, Objective: 0.99, Window: budgetWindow}}
	noonPeak := func(_, hour, n int) time.Duration {
		if hour == 12 && n < 300 {
			return 2200 * time.Millisecond
		}
		return 300 * time.Millisecond
	}
	for name, tt := range map[string]struct {
		days                      int
		ttft                      func(day, hour, n int) time.Duration
		want                      string // the TTFT, and availability
		missed, pages             int    // of the objective of today
		proposedMissed, thenPages int
	}{
		"a peak every noon": {28, noonPeak, "99% 2500ms 99.9%", 28, 28, 0, 0},
		"a week of it":      {7, noonPeak, "99% 2500ms 99.9%", 7, 7, 0, 0},
		"always fast":       {28, func(_, _, _ int) time.Duration { return 180 * time.Millisecond }, "99% 200ms 99.9%", 0, 0, 0, 0},
		"rare outliers": {28, func(_, _, n int) time.Duration {
			if n < 10 {
				return 20 * second
			}
			return 700 * time.Millisecond
		}, "95% 800ms 99.9%", 28, 0, 0, 0},
		"half a percent fails": {28, func(_, _, n int) time.Duration {
			if n%200 == 0 {
				return 0
			}
			return 700 * time.Millisecond
		}, "99% 800ms 99%", 0, 0, 0, 0},
		// A slow day in a month is less than the missable share only if days are judged.
		"one slow day in three weeks": {21, func(day, _, n int) time.Duration {
			if day == 10 {
				return 9 * second
			}
			return 700 * time.Millisecond
		}, "99% 800ms 99.9%", 1, 1, 1, 1},
		"half of all turns fail": {28, func(_, _, n int) time.Duration {
			return time.Duration(n%2) * second
		}, "none", 28, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			proposals := past(tt.days, tt.ttft).Propose(chat, today)
			got, p := "none", proposals[0]
			if p.Proposed != nil {
				got = Percent(p.Proposed.Objective.Objective) + " " + FormatThreshold(p.Proposed.Threshold) + " " + Percent(proposals[2].Proposed.Objective.Objective)
				if p.Proposed.MissedDays != tt.proposedMissed || p.Proposed.Pages.V != tt.thenPages {
					t.Errorf("the proposal would have missed %d days with %d pages, want %d and %d", p.Proposed.MissedDays, p.Proposed.Pages.V, tt.proposedMissed, tt.thenPages)
				}
			}
			if got != tt.want {
				t.Errorf("proposed is %q, want %q", got, tt.want)
			}
			if p.Current.MissedDays != tt.missed || p.Current.Pages.V != tt.pages {
				t.Errorf("today's would have missed %d days with %d pages, want %d and %d", p.Current.MissedDays, p.Current.Pages.V, tt.missed, tt.pages)
			}
		})
	}
}

// TestProposeNeedsTurns: with fewer bad turns in the budget of a month than an alert needs, nothing is proposed.
func TestProposeNeedsTurns(t *testing.T) {
	h := &History{Step: oneDay, Jobs: map[probe.Key][]Slot{chat: {{Start: noon, Turns: 1, TTFT: Counts{1}}}}}
	for _, p := range h.Propose(chat, nil) {
		if p.Proposed != nil || p.Current != nil {
			t.Errorf("of one turn a day, %+v", p)
		}
	}
}
