package status

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/watch"
)

// risen returns a signal that is slower than usual, and whose window of eight minutes is above its limit.
func risen(page, ticket, ratio float64, since time.Time) watch.View {
	v := watch.View{
		Page: page, Ticket: ticket, Ratio: probe.Some(ratio), Limit: probe.Some(1.5), Detectable: probe.Some(1.2), HalfHours: 336, Since: since,
		Decision: watch.Decision{
			Minute: noon.Unix() / 60, WindowMinutes: 8, Score: page,
			Gates: []watch.Gate{{Name: watch.GateRise, Value: ratio, Limit: 1.5, Holds: max(page, ticket) >= 1}},
		},
	}
	v.Decision.Limit.Value, v.Decision.Limit.Move, v.Decision.Limit.Days = math.Log(1.5), math.Log(1.4), 28
	return v
}

// someBaseline returns a TTFT that pages and a TPOT with a ticket for the job t/w, and signals that are still learning for
// any other job of that target.
func someBaseline(job probe.Key) (r watch.Reading, ok bool) {
	switch {
	case job.Target != "t":
		return r, false
	case job.Workload != "w":
		r.Moments[1][0].Turns = 1
		r.Signals[0] = watch.View{Learning: true, OnlySteps: true, Next: noon.Add(3 * time.Hour)}
		return r, true
	}
	r.Signals[0] = risen(1.2, 3, 1.62, noon.Add(-10*time.Minute))
	r.Signals[1] = risen(.9, 1, 1.25, noon.Add(-2*time.Hour))
	r.Signals[1].Detectable, r.Signals[1].Moved = probe.Some(math.Inf(1)), noon.Add(-7*24*time.Hour)
	return r, true
}

// TestSignals checks the signals of a job as text and as JSON, and that nothing is shown
// without baselines.
func TestSignals(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(time.Minute))
	if j := only(t, p); len(j.Signals) > 0 || strings.Contains(get(t, p, "/").Body.String(), "what is usual") {
		t.Errorf("nobody knows, and it shows %+v", j.Signals)
	}
	p.options.Baseline = someBaseline
	feed(p, turn(time.Minute, func(r *probe.Result) { r.Workload = "young" }))
	jobs := p.Snapshot().Jobs
	got := slices.Concat(jobs[0].Signals, jobs[1].Signals)
	if len(got) != 3 {
		t.Fatalf("%d signals, want the three that anything is known of: %+v", len(got), got)
	}
	for i, want := range [][6]string{
		{"TTFT", "×1.62", "×1.50", "×1.20", "bad slower since 11:50", "The mean of 8 minutes is 1.62 times"},
		{"TPOT", "×1.25", "×1.50", "nothing", "warn slower since 10:00", "The mean of 8 minutes is 1.25 times"},
		{"TTFT", "n/a", "n/a", "n/a", "unknown still learning", ""},
	} {
		s := got[i]
		why := s.Why[:min(len(want[5]), len(s.Why))]
		if shown := [6]string{s.Title(), s.Ratio.String(), s.Limit.String(), s.Hour.String(), s.State().Class + " " + s.State().Text, why}; shown != want {
			t.Errorf("got  %q\nwant %q", shown, want)
		}
	}
	page := get(t, p, "/").Body.String()
	for _, want := range []string{"what is usual", "slower since", "became the usual", "×1.62", got[0].Why, got[1].Why} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for i, want := range []string{"", "Failures and missed objectives can page now, sudden rises of latency from 15:00 UTC on, slow rises after a week of turns."} {
		if badge := jobs[i].State.Text; jobs[i].CanPage != want || (badge == "learning") != (want != "") || !strings.Contains(page, want) {
			t.Errorf("job %d has the badge %q and %q, want %q", i, badge, jobs[i].CanPage, want)
		}
	}
	weekly := []signalState{{OnlySteps: true, now: noon, next: noon.Add(5 * 24 * time.Hour)}}
	if got, want := canPage(weekly), "Failures, missed objectives and sudden rises of latency can page now, slow rises from 03-06 12:00 UTC on."; got != want {
		t.Errorf("in the first week it says %q, want %q", got, want)
	}
	data, err := json.Marshal(got)
	for _, want := range []string{
		`"detectable_ratio_1h":"+Inf","decision":{"minute":`, `"gates":[{"name":"rise","value":1.62,"limit":1.5,"holds":true}]`,
		`{"signal":"ttft","learning":true,"only_sudden_rises_page":true,"ratio":null,"limit_ratio":null,"detectable_ratio_1h":null}`,
	} {
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("the JSON lacks %s (error %v):\n%s", want, err, data)
		}
	}
	healthy := watch.View{Ratio: probe.Some(1.05), HalfHours: 336}
	if s := signalOf("ttft", &healthy, time.Now(), nil); s.Why != "" || s.Decision != nil {
		t.Errorf("a signal that is as usual explains itself: %+v", s)
	}
	if s := (signalState{OnlySteps: true}).State(); s.Class != "unknown" || !strings.Contains(s.Text, "first week") {
		t.Errorf("in the first week it shows %v", s)
	}
	if s := (signalState{}).State(); s != (state{"unknown", "as usual"}) {
		t.Errorf("a signal that is well: %+v", s)
	}
}
