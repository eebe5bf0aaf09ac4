package status

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

// TestRecallIsShown: a job counts its judged turns, its line turns bad with the first foreign answer, and
// the list of turns marks wrong and foreign ones.
func TestRecallIsShown(t *testing.T) {
	var c recallCounts
	for _, r := range []recall.Result{"", recall.Right, recall.Right, recall.Wrong} {
		c.count(r)
	}
	if c != (recallCounts{Right: 2, Wrong: 1}) || c.State().Class != "good" {
		t.Errorf("%+v is %v", c, c.State())
	}
	if c.count(recall.Foreign); c.Foreign != 1 || c.State() != (state{"bad", "answers with text of another conversation: 1"}) {
		t.Errorf("%+v is %v", c, c.State())
	}
	for result, marked := range map[recall.Result]bool{"": false, recall.Right: false, recall.Wrong: true, recall.Foreign: true} {
		row := turnRow{Result: probe.Result{Outcome: probe.Success, Recall: probe.Recall{Result: result}}}
		if text := row.OddText(); (text != "") != marked || text != recallText(result) {
			t.Errorf("%q turns are marked %q", result, text)
		}
	}
}

// TestRecallIsShownFromTheStart: a job with recall has its line before the first judged turn, and when none is
// judged any more.
func TestRecallIsShownFromTheStart(t *testing.T) {
	for _, recalls := range []float64{0, 1} {
		j := &job{hasEvents: true}
		j.info.Workload.Recall = recalls
		if s, _ := j.snapshot(probe.Key{}, noon, 0); (s.Recall != nil) != (recalls > 0) {
			t.Errorf("recall %v: the line is shown: %v", recalls, s.Recall != nil)
		}
	}
}

// TestForeignTurnsAreKept: later successes do not push a foreign answer out of the list of turns, and it begins
// no outage.
func TestForeignTurnsAreKept(t *testing.T) {
	p := New(Options{})
	p.Add(jobOf("t", "w"))
	j := p.job(key("t", "w"))
	turn := func(r recall.Result) {
		j.turnEnded(probe.Result{Outcome: probe.Success, Recall: probe.Recall{Result: r}})
	}
	turn(recall.Foreign)
	for range 2 * successesKept {
		turn(recall.Right)
	}
	past := j.past(time.Time{})
	if len(j.failures) != 1 || len(j.successes) != successesKept || !past.failing.IsZero() {
		t.Fatalf("%d foreign turns and %d others are kept, failing since %v", len(j.failures), len(j.successes), past.failing)
	}
	row := turnRow{Result: *j.failures[0]}
	if s := row.State(); s.Class != "bad" || j.score(row.Result) < 1e6 {
		t.Errorf("the foreign turn is %v with the score %v", s, j.score(row.Result))
	}
}

// TestRecallStates: the line of a job has the usual share. If more answers than usual are wrong, it has the start
// and the words of the twins.
func TestRecallStates(t *testing.T) {
	usual := recall.Count{Turns: 1000, Wrong: 10}
	for _, tt := range []struct {
		watched recall.Watched
		class   string
		text    string
	}{
		{recall.Watched{}, "good", "no foreign code found; learning how often the model recalls"},
		{recall.Watched{Ready: true, Usual: usual}, "good", "as usual, no foreign code found"},
		{recall.Watched{Ready: true, Unable: true}, "unknown", "the model cannot recall, so wrong answers cannot be found"},
		{
			recall.Watched{Ready: true, Usual: usual, Score: 1, Since: noon, Cached: recall.Count{Turns: 100, Wrong: 20}, Uncached: recall.Count{Turns: 50}},
			"bad", "since " + noon.UTC().Format("2006-01-02 15:04") + " more answers than usual are wrong, only when cached",
		},
		{
			recall.Watched{Ready: true, Usual: usual, Score: 1, Since: noon, Twins: recall.Pairs{OnlyCached: 3, OnlyCold: 1, Both: 2, Neither: 30}},
			"bad", "since " + noon.UTC().Format("2006-01-02 15:04") + " more answers than usual are wrong; of 36 asked again with a cold cache, 3 were wrong only when cached, 1 only when cold, 2 both times",
		},
	} {
		var c recallCounts
		if c.compare(tt.watched); c.State() != (state{tt.class, tt.text}) || c.Usual.OK != tt.watched.Ready {
			t.Errorf("%+v: %+v, usually %v", tt.watched, c.State(), c.Usual)
		}
	}
}
