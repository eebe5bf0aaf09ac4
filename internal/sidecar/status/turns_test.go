package status

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/sidecar/watch"
)

// TestRecallIsShown: the list of turns marks wrong and foreign ones.
func TestRecallIsShown(t *testing.T) {
	for result, want := range map[recall.Result]string{"": "", recall.Right: "", recall.Wrong: "lacks the reference code", recall.Foreign: "of another conversation"} {
		row := turnRow{Result: probe.Result{Outcome: probe.Success, Texts: probe.Texts{Recall: probe.Recall{Result: result}}}}
		if got := row.Note(); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q turns have the note %q", result, got)
		}
	}
}

// TestTurnsOfASection: the last turns are the newest first. The worst are the failed and foreign ones of the last hour,
// which later successes do not push out, and then those that exceed their baseline most.
func TestTurnsOfASection(t *testing.T) {
	p := pageAt(noon)
	p.options.Baseline = func(probe.Key) (r watch.Reading, ok bool) {
		r.Usual[1][0] = probe.Some(0.1)
		return r, true
	}
	foreign := func(r *probe.Result) { r.Recall.Result = recall.Foreign }
	feed(p, turn(2*time.Hour, failing(probe.Stall, "old")), turn(59*time.Minute, foreign), turn(58*time.Minute, failing(probe.Stall, "x")))
	for ago := 40; ago > 0; ago-- {
		feed(p, turn(time.Duration(ago)*time.Minute, ttft(time.Duration(100+ago)*time.Millisecond)))
	}
	last, worst := p.jobs[key("t", "w")].turns(noon)
	if len(last) != successesKept+3 || !last[0].End.Equal(noon.Add(-time.Minute)) {
		t.Errorf("%d last turns, the newest at %v", len(last), last[0].End)
	}
	if len(worst) != worstKept+2 || worst[0].Err != "x" || worst[1].State().Text != "foreign answer" || worst[2].Ratio.String() != "×1.40" || worst[3].Ratio.V >= worst[2].Ratio.V {
		t.Errorf("%d worst turns: %+v", len(worst), worst[:4])
	}
}
