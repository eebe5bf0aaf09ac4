package status

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
)

// TestSpending checks the daily use: measured over the last day, expected from the
// configuration, and in money if there is a price.
func TestSpending(t *testing.T) {
	now := noon
	p := New(Options{Now: func() time.Time { return now }})
	job := func(target string, price *workload.Price) sink.Job {
		j := jobOf(target, "w")
		j.Footprint.Day, j.Price = workload.Tokens{Prompt: 48e6, Cached: 24e6, Output: 4.8e6}, price
		return j
	}
	p.Add(job("a", &workload.Price{Prompt: 1, Cached: 0.5, Output: 10}))
	p.Add(job("b", nil))
	p.Observe(probe.Start{Target: "b", Workload: "w", Kind: probe.First})
	each := func(hours int) {
		for range hours * 60 {
			now = now.Add(time.Minute)
			r := turn(0)
			r.Target, r.Workload, r.End = "a", "w", now
			r.PromptTokens, r.CachedTokens, r.OutputTokens = probe.Some(1000), probe.Some(900), probe.Some(100)
			p.Observe(probe.Start{Target: "a", Workload: "w", Kind: r.Kind})
			p.Observe(r)
		}
	}
	check := func(what string, span Duration, prompt, cost float64) {
		t.Helper()
		s := p.Snapshot()
		a := s.Jobs[0].Spending
		if a.Span != span || a.Measured.Prompt < prompt*.99 || a.Measured.Prompt > prompt*1.01 || *a.Measured.Cost < cost*.99 || *a.Measured.Cost > cost*1.01 {
			t.Errorf("%s: measured %v over %v (%v)", what, a.Measured, a.Span, *a.Measured.Cost)
		}
		if a.Expected.Prompt != 48e6 || *a.Expected.Cost != 24+12+48 || a.Title() == "n/a" || len(a.Lines()) != 2 {
			t.Errorf("%s: expected %v, shown as %q %q", what, a.Expected, a.Title(), a.Lines())
		}
		if all := s.Spending; all.Expected.Output != 9.6e6 || all.Expected.Cost != nil || all.Measured.Prompt != a.Measured.Prompt {
			t.Errorf("%s: in all %v, expected %v", what, all.Measured, all.Expected)
		}
	}
	dayCost := 1440 * (100*1 + 900*.5 + 100*10) / 1e6
	each(1)
	check("after an hour", Duration(probe.Some(time.Hour)), 1440e3, dayCost)
	each(47)
	check("after two days", Duration(probe.Some(23*time.Hour)), 1440e3, dayCost)
	now = now.Add(12 * time.Hour)
	check("after half a day of silence", Duration(probe.Some(23*time.Hour)), 1440e3*11/23, dayCost*11/23)
}

func TestNothingIsSaidOfADayInTheFirstMinute(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(0))
	if s := only(t, p).Spending; s.Measured != nil || s.Expected != nil || s.Title() != "n/a" || s.Lines() != nil {
		t.Errorf("got %+v", s)
	}
}
