package status

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

// TestRecallIsShown: the list of turns marks wrong and foreign ones.
func TestRecallIsShown(t *testing.T) {
	for result, want := range map[recall.Result]string{"": "", recall.Right: "", recall.Wrong: "lacks the reference code", recall.Foreign: "of another conversation"} {
		row := turnRow{probe.Result{Outcome: probe.Success, Texts: probe.Texts{Recall: probe.Recall{Result: result}}}}
		if got := row.Note(); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q turns have the note %q", result, got)
		}
	}
}

// TestTurnsOfASection: the newest turns are the first. Later successes do not push out the failed and foreign ones.
func TestTurnsOfASection(t *testing.T) {
	p := pageAt(noon)
	foreign := func(r *probe.Result) { r.Recall.Result = recall.Foreign }
	feed(p, turn(59*time.Minute, foreign), turn(58*time.Minute, failing(probe.Stall, "x")))
	for ago := 40; ago > 0; ago-- {
		feed(p, turn(time.Duration(ago)*time.Minute))
	}
	last := p.jobs[key("t", "w")].turns()
	if len(last) != successesKept+2 || !last[0].End.Equal(noon.Add(-time.Minute)) || last[successesKept].Err != "x" || last[successesKept+1].State().Text != "foreign answer" {
		t.Errorf("%d last turns: %+v", len(last), last)
	}
}
