package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

// badTurns lists the bad turns that a recorder shows, as "turn reason trace".
func badTurns(t *testing.T, r *testRecorder) []string {
	t.Helper()
	return badTurnLabels(t, r, LabelTurn, LabelReason, LabelTraceID)
}

// badTurnLabels lists values of labels of the bad turns that a recorder shows.
func badTurnLabels(t *testing.T, r *testRecorder, names ...string) []string {
	t.Helper()
	var out []string
	fams, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fams {
		if f.GetName() != BadTurn {
			continue
		}
		for _, m := range f.Metric {
			by := map[string]string{}
			for _, l := range m.Label {
				by[l.GetName()] = l.GetValue()
			}
			var values []string
			for _, n := range names {
				values = append(values, by[n])
			}
			out = append(out, strings.Join(values, " "))
		}
	}
	return out
}

// badly returns a turn with a trace id and an outcome.
func badly(at time.Time, trace string, o probe.Outcome, ttft time.Duration) probe.Result {
	r := turn("a", probe.First, at, ttft, 20*millisecond, 5)
	r.TraceID, r.Outcome = trace, o
	return r
}

func TestWhatIsABadTurn(t *testing.T) {
	const good = 300 * millisecond
	for name, tt := range map[string]struct {
		result probe.Result
		want   []string
	}{
		"success":                    {badly(start, "t1", probe.Success, good), nil},
		"canceled by us":             {badly(start, "t1", probe.Canceled, 5*time.Second), nil},
		"without a trace":            {badly(start, "", probe.HTTP5xx, good), nil},
		"failed":                     {badly(start, "t1", probe.HTTP5xx, good), []string{"first http_5xx t1"}},
		"foreign":                    {foreignAnswer(start, "t1", probe.Success), []string{"first foreign_answer t1"}},
		"foreign, and failed":        {foreignAnswer(start, "t1", probe.ToolCallInvalid), []string{"first foreign_answer t1"}},
		"failed, and missed an SLO":  {badly(start, "t1", probe.Stall, 5*time.Second), []string{"first stall t1"}},
		"missed an SLO":              {badly(start, "t1", probe.Success, 2*time.Second), []string{"first ttft t1"}},
		"slow tokens of a followup":  {followup(start, "t1", 90*millisecond), []string{"followup tpot t1"}},
		"an SLO of other turns only": {slowTokens(badly(start, "t1", probe.Success, good)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestRecorder(&clock{start}, "a")
			run(r, tt.result)
			if diff := cmp.Diff(tt.want, badTurns(t, r), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("bad turns (-want +got):\n%s", diff)
			}
		})
	}
}

func foreignAnswer(at time.Time, trace string, o probe.Outcome) probe.Result {
	r := badly(at, trace, o, 300*millisecond)
	r.Recall.Result = recall.Foreign
	return r
}

// TestAForeignAnswerIsTheWorst: it replaces a failure at once, and stays although failures follow.
func TestAForeignAnswerIsTheWorst(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "a")
	for i, bad := range []probe.Result{
		badly(start, "t0", probe.HTTP5xx, millisecond), foreignAnswer(start, "t1", probe.Success),
		badly(start, "t2", probe.Stall, millisecond), badly(start, "t3", probe.HTTP5xx, millisecond),
	} {
		c.now = c.now.Add(time.Minute)
		bad.End = c.now
		run(r, bad)
		if got := badTurns(t, r); i > 0 && (len(got) != 1 || got[0] != "first foreign_answer t1") {
			t.Errorf("after turn %d: %v", i, got)
		}
	}
}

// slowTokens makes the tokens of a first turn slow, which the TPOT objective does not cover.
func slowTokens(r probe.Result) probe.Result {
	r.TPOT = probe.Some(90 * millisecond)
	return r
}

func followup(at time.Time, trace string, tpot time.Duration) probe.Result {
	r := turn("a", probe.Followup, at, 300*millisecond, tpot, 5)
	r.TraceID = trace
	return r
}

// TestFarAboveTheUsualIsBad checks that the baseline decides for turns without an SLO.
func TestFarAboveTheUsualIsBad(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c)
	s := jobs("a")
	s[0].Objectives = nil
	apply(r, s)
	step := func(trace string, ttft time.Duration) {
		c.now = c.now.Add(5 * time.Second)
		run(r, badly(c.now, trace, probe.Success, ttft))
	}
	for range 3 * 4320 {
		c.now = c.now.Add(15 * time.Second)
		step("usual", 100*millisecond)
	}
	step("usual", 150*millisecond)
	if got := badTurns(t, r); got != nil {
		t.Fatalf("1.5 times the usual is shown: %v", got)
	}
	step("tail", 400*millisecond) // 2.5 standard deviations of 0.5 are 3.5 times the baseline
	if diff := cmp.Diff([]string{"first ttft tail"}, badTurns(t, r)); diff != "" {
		t.Fatalf("a turn in the tail (-want +got):\n%s", diff)
	}
	for range 200 {
		step("regressed", 200*millisecond) // not slow by itself, but during a page
	}
	if diff := cmp.Diff([]string{"first ttft regressed"}, badTurns(t, r)); diff != "" {
		t.Errorf("while the signal has regressed (-want +got):\n%s", diff)
	}
}

// TestASlowTurnOfATicketIsBad checks that a ticket shows a trace, although its turns do not
// count as slow.
func TestASlowTurnOfATicketIsBad(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c)
	s := jobs("a")
	s[0].Objectives = nil
	apply(r, s)
	turns := func(n int, trace string, ttft time.Duration) {
		for range n {
			c.now = c.now.Add(20 * time.Second)
			run(r, badly(c.now, trace, probe.Success, ttft))
		}
	}
	turns(3*4320, "usual", 100*millisecond)
	turns(180, "level", 125*millisecond)
	if got := badTurns(t, r); got != nil {
		t.Fatalf("a turn at the level of the ticket is shown: %v", got)
	}

	turns(1, "slower", 150*millisecond)
	if diff := cmp.Diff([]string{"first ttft slower"}, badTurns(t, r)); diff != "" {
		t.Errorf("a turn above the level of the ticket (-want +got):\n%s", diff)
	}
}

// TestBadTurnsAreReplaced checks that a bad turn is replaced rarely, by a failure at once, and
// disappears after some time.
func TestBadTurnsAreReplaced(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "a")
	for i, step := range []struct {
		after   time.Duration
		trace   string
		outcome probe.Outcome
		ttft    time.Duration
		want    string
	}{
		{0, "s1", probe.Success, 2 * time.Second, "first ttft s1"},
		{time.Minute, "s2", probe.Success, 3 * time.Second, "first ttft s1"},
		{time.Minute, "f1", probe.HTTP5xx, millisecond, "first http_5xx f1"},
		{29 * time.Second, "f2", probe.Stall, millisecond, "first http_5xx f1"},
		{time.Second, "f2", probe.HTTP5xx, millisecond, "first http_5xx f1"},
		{time.Second, "f2", probe.Stall, millisecond, "first stall f2"},
		{time.Minute, "f3", probe.HTTP5xx, millisecond, "first stall f2"},
		{3 * time.Minute, "s3", probe.Success, 2 * time.Second, "first stall f2"},
		{time.Minute, "s4", probe.Success, 2 * time.Second, "first ttft s4"},
		{time.Minute, "ok", probe.Success, millisecond, "first ttft s4"},
		{57 * time.Minute, "ok", probe.Success, millisecond, "first ttft s4"},
		{2 * time.Minute, "ok", probe.Success, millisecond, ""},
		{time.Second, "s5", probe.Success, 2 * time.Second, "first ttft s5"},
		{time.Second, "b1", probe.HTTP429, millisecond, "first http_429 b1"},
		{time.Second, "b2", probe.HTTP429, millisecond, "first http_429 b1"},
		{time.Second, "f3", probe.HTTP4xx, millisecond, "first http_4xx f3"},
		{time.Second, "b3", probe.HTTP429, millisecond, "first http_4xx f3"},
	} {
		c.now = c.now.Add(step.after)
		run(r, badly(c.now, step.trace, step.outcome, step.ttft))
		if got := strings.Join(badTurns(t, r), ", "); got != step.want {
			t.Errorf("step %d, %s: %q is shown, want %q", i, step.trace, got, step.want)
		}
	}
}

// TestABadTurnHasItsError checks that the text of a failure is a label, shortened between two
// characters.
func TestABadTurnHasItsError(t *testing.T) {
	for text, want := range map[string]string{
		"HTTP 404: The model `nosuch` does not exist": "HTTP 404: The model `nosuch` does not exist",
		strings.Repeat("ä", 100):                      strings.Repeat("ä", 80) + "…",
		"a" + strings.Repeat("ä", 100):                "a" + strings.Repeat("ä", 79) + "…",
	} {
		r := newTestRecorder(&clock{start}, "a")
		turn := badly(start, "t1", probe.HTTP4xx, millisecond)
		turn.Err = text
		run(r, turn)
		if got := badTurnLabels(t, r, LabelError); len(got) != 1 || got[0] != want {
			t.Errorf("the error %q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestBadTurnsAreBounded checks that hours of bad turns create as few series as the docs
// promise, and one at a time.
func TestBadTurnsAreBounded(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "a")
	seen := map[string]bool{}
	const hours = 6
	for i := range hours * 720 {
		c.now = c.now.Add(5 * time.Second)
		bad := badly(c.now, fmt.Sprintf("%032x", i), []probe.Outcome{probe.Success, probe.HTTP429, probe.HTTP5xx, probe.Stall}[i/20%4], 2*time.Second)
		if i%60 == 59 {
			bad.Recall.Result = recall.Foreign
		}
		run(r, bad)
		now := badTurns(t, r)
		if len(now) != 1 {
			t.Fatalf("%d bad turns are shown, want one", len(now))
		}
		seen[now[0]] = true
	}
	if promised := hours * documentData()["BadTurnsPerHour"].(int); len(seen) > promised {
		t.Errorf("%d series in %d hours, promised are %d", len(seen), hours, promised)
	}
}

// TestBadTurnsGoWithTheirJob checks that a reload removes the bad turn of a removed job only.
func TestBadTurnsGoWithTheirJob(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a", "b")
	run(r, badly(start, "t1", probe.HTTP5xx, millisecond))
	apply(r, jobs("a"))
	if got := badTurns(t, r); len(got) != 1 {
		t.Errorf("after a reload that keeps the target: %v", got)
	}
	apply(r, jobs("b"))
	if got := badTurns(t, r); got != nil {
		t.Errorf("after a reload without the target: %v", got)
	}
}
