package status

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/watch"
)

// someBaseline returns one signal in each state for the job t/w: a paging first turn, one with
// a ticket, a follow-up turn that is still learning, and no data for the last.
func someBaseline(job probe.Key) (r watch.Reading, ok bool) {
	if job.Target != "t" {
		return r, false
	}
	v := &r.Views
	const week = 7 * 24 * time.Hour
	detectable := func(quarter, hour float64) [2]probe.Opt[float64] {
		return [2]probe.Opt[float64]{probe.Some(quarter), probe.Some(hour)}
	}
	some := func(page, ticket, ratio float64, since time.Time) watch.View {
		return watch.View{
			Moments: watch.Moments{Turns: 9}, Page: page, Ticket: ticket, Ratio: probe.Some(ratio), Since: since,
			Promise: watch.Promise{Detectable: detectable(1.35, 1.2), Expected: probe.Some(.031)}, History: week,
		}
	}
	v[0][0] = some(1.2, 3, 1.62, noon.Add(-10*time.Minute))
	v[0][1] = some(.9, 1, 1.25, noon.Add(-2*time.Hour))
	v[0][1].Detectable, v[0][1].Moved = detectable(math.Inf(1), 1.5), noon.Add(-week)
	v[1][0] = watch.View{Moments: watch.Moments{Turns: 1}, Young: true, OnlySteps: true}
	return r, true
}

// TestNumbers checks that a tiny number is shown without an exponent.
func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7.7e-275: "< 0.001", 0.0312: "0.031", 2: "2"} {
		if got := (number{v, true}).String(); got != want {
			t.Errorf("%v is shown as %s, want %s", v, got, want)
		}
	}
}

// TestSignals checks the signals of a job as text and as JSON, and that nothing is shown
// without baselines.
func TestSignals(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(time.Minute))
	if j := only(t, p); len(j.Signals) > 0 || strings.Contains(get(t, p, "/").Body.String(), "divided by its baseline") {
		t.Errorf("nobody knows, and it shows %+v", j.Signals)
	}
	p.options.Baseline = someBaseline
	got := only(t, p).Signals
	if len(got) != 3 {
		t.Fatalf("%d signals, want the three that anything is known of: %+v", len(got), got)
	}
	for i, want := range [][7]string{
		{"TTFT, first turn", "×1.62", "×1.35", "×1.20", "0.031", "7 days", "bad slower: page since 03-01 11:50"},
		{"TPOT, first turn", "×1.25", "nothing", "×1.50", "0.031", "7 days", "warn slower: ticket since 03-01 10:00"},
		{"TTFT, follow-up", "n/a", "n/a", "n/a", "n/a", "none yet", "unknown still learning"},
	} {
		s := got[i]
		if shown := [7]string{s.Title(), s.Ratio.String(), s.Quarter.String(), s.Hour.String(), s.FalsePages.String(), s.Span(), s.State().Class + " " + s.State().Text}; shown != want {
			t.Errorf("got  %q\nwant %q", shown, want)
		}
	}
	page := get(t, p, "/").Body.String()
	for _, want := range []string{"divided by its baseline", "slower: page since", "became the baseline", "×1.35"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	data, err := json.Marshal(got)
	for _, want := range []string{
		`"detectable_ratio_15m":"+Inf","detectable_ratio_1h":1.5,"expected_false_pages_30d":0.031,"history_seconds":604800,"moved_at":"`,
		`{"turn":"followup","signal":"ttft","learning":true,"only_sudden_rises_page":true,"ratio":null,"detectable_ratio_15m":null,"detectable_ratio_1h":null,"expected_false_pages_30d":null,"history_seconds":0}`,
	} {
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("the JSON lacks %s (error %v):\n%s", want, err, data)
		}
	}
	if s := (signalState{OnlySteps: true}).State(); s.Class != "good" || !strings.Contains(s.Text, "first week") {
		t.Errorf("in the first week it shows %v", s)
	}
	if s := (signalState{}).State(); s != (state{"good", "as usual"}) {
		t.Errorf("a signal that is well: %+v", s)
	}
}
