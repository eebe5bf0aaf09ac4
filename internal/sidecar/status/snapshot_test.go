package status

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// only returns the single job of a page.
func only(t *testing.T, p *Page) Job {
	t.Helper()
	jobs := p.Snapshot().Jobs
	if len(jobs) != 1 {
		t.Fatalf("%d jobs, want 1", len(jobs))
	}
	return jobs[0]
}

func TestFiguresOfRecentTurns(t *testing.T) {
	p := pageAt(noon)
	feed(p,
		turn(6*time.Minute, ttft(time.Hour)), // before the window
		turn(5*time.Minute, first, ttft(400*time.Millisecond)),
		turn(4*time.Minute, ttft(100*time.Millisecond)),
		turn(3*time.Minute, ttft(200*time.Millisecond)),
		turn(2*time.Minute, failing(probe.HTTP429, "busy")),
		turn(time.Minute, func(r *probe.Result) { r.Outcome, r.Err = probe.Truncated, "cut" }),
		turn(time.Second, func(r *probe.Result) { r.Outcome = probe.Canceled }),
	)
	p.Observe(probe.Start{Target: "t", Workload: "w", Kind: probe.First})
	p.Observe(probe.Skip{Target: "t", Workload: "w", Reason: "budget"})

	j := only(t, p)
	if j.Turns != 7 || j.Failed != 2 || j.Canceled != 1 || j.Conversations != 7 || j.TurnsInFlight != 1 || j.ConversationsInFlight != 0 || j.Skipped["budget"] != 1 {
		t.Errorf("counts since the start: %+v", j)
	}
	r := j.Recent
	if r.Turns != 5 || r.Failed != 2 || r.Errors.String() != "40 %" || r.Cached.String() != "80 %" || r.Span.String() != "5 min" {
		t.Errorf("recent: %+v", r)
	}
	reasons := []failureReason{{probe.HTTP429, 1, shareOf(1, 5)}, {probe.Truncated, 1, shareOf(1, 5)}}
	if !slices.Equal(r.Reasons, reasons) {
		t.Errorf("reasons %+v, want %+v", r.Reasons, reasons)
	}
	if r.First.TTFT.Count != 1 || r.First.TTFT.P50.String() != "400 ms" {
		t.Errorf("first turns are mixed with others: %+v", r.First)
	}
	// A turn cut after its first token has a TTFT. A refused turn has none, and counts as
	// infinite with failures.
	f := r.Followup
	if f.Turns != 4 || f.TTFT.Count != 3 || f.TTFT.P50.String() != "100 ms" || f.TTFTAll.Count != 4 || f.TTFTAll.P99.String() != "∞" {
		t.Errorf("follow-up turns: %+v", f)
	}
	if j.Last == nil || j.Last.Outcome != probe.Truncated || j.Last.Age.String() != "60 s" || j.Last.Err != "cut" {
		t.Errorf("last turn: %+v", j.Last)
	}
}

// TestOwnFaultsAreNoFigures checks that a turn that the prober lost is counted and listed, but
// is in no figure of the deployment.
func TestOwnFaultsAreNoFigures(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(3*time.Minute), turn(2*time.Minute, failing(probe.ProberLate, "late")), turn(time.Minute, failing(probe.NotSent, "no key")))
	j := only(t, p)
	if j.Turns != 3 || j.OwnFaults != 2 || j.Failed != 0 || j.Canceled != 0 || j.Recent.Turns != 1 || j.Recent.Failed != 0 {
		t.Errorf("%+v", j)
	}
	if !j.InPart || j.Last == nil || j.Last.Outcome != probe.NotSent || stateOf(j).Class != "unknown" {
		t.Errorf("in part %v, last turn %+v, state %+v", j.InPart, j.Last, stateOf(j))
	}
	feed(p, turn(0))
	if j := only(t, p); j.InPart {
		t.Error("judged in part after a turn that went well")
	}
	p.Add(jobOf("t", "w", slo.Objective{Name: "up", SLI: slo.Availability, Objective: 0.99}))
	p.options.Lag = func() time.Duration { return time.Hour }
	if j := only(t, p); !j.InPart {
		t.Error("judged in full with a lag of an hour")
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(time.Minute, failing(probe.ConnectError, "refused")))
	r := only(t, p).Recent
	for name, got := range map[string]string{
		"cached": r.Cached.String(), "TTFT": r.Followup.TTFT.P50.String(), "TPOT": r.Followup.TPOT.P95.String(), "first TTFT": r.First.TTFT.P99.String(),
	} {
		if got != "n/a" {
			t.Errorf("%s is %q, want n/a", name, got)
		}
	}
}

func TestJudgedAsTheWholeResult(t *testing.T) {
	turns := []probe.Result{
		turn(0), turn(0, first), turn(0, ttft(2*time.Second)),
		turn(0, failing(probe.HTTP5xx, "x")), turn(0, failing(probe.Stall, "x"), ttft(time.Second)),
		turn(0, func(r *probe.Result) { r.Gaps = nil }),
		turn(0, func(r *probe.Result) { r.Gaps = []time.Duration{time.Millisecond} }),
		turn(0, func(r *probe.Result) { r.Sent = r.End.Add(-2 * time.Minute) }),
		turn(0, func(r *probe.Result) { r.Outcome = probe.Canceled }),
		turn(0, ttft(2*time.Second), func(r *probe.Result) { r.PromptTokens, r.CachedTokens = probe.Some(4000), probe.Some(3000) }),
		turn(0, ttft(2*time.Second), func(r *probe.Result) {
			r.PromptTokens, r.CachedTokens = probe.Opt[int]{}, probe.Opt[int]{}
			r.UncachedEstimate = probe.Some(1000)
		}),
		turn(0, func(r *probe.Result) { r.StreamLag, r.TPOTTokens = 100*time.Millisecond, 1000 }),
		turn(0, func(r *probe.Result) { r.StreamLag, r.TPOTTokens = 100*time.Millisecond, 2 }),
		turn(0, ttft(time.Second+1)), turn(0, ttft(time.Second)), turn(0, ttft(5*time.Hour+1)),
	}
	sized := []slo.Objective{
		{Name: "line", SLI: slo.TTFT, Threshold: time.Second, PerThousand: time.Second},
		{Name: "small", SLI: slo.TTFT, Threshold: time.Second, Uncached: slo.Tokens{Below: 2000}},
		{Name: "slow", SLI: slo.TTFT, Threshold: 5 * time.Hour},
	}
	for _, o := range append(objectives(), sized...) {
		for i, r := range turns {
			s := sampleOf(r)
			if got, want := o.Judge(s.result(key("t", "w"))), o.Judge(&r); got != want {
				t.Errorf("%s of turn %d: %v of what is kept, %v of the result", o.Name, i, got, want)
			}
		}
	}
}

func TestObjectives(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(2*time.Minute), turn(time.Minute, failing(probe.HTTP5xx, "x")))
	p.Add(jobOf("t", "w", []slo.Objective{
		{Name: "half", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.5},
		{Name: "up", SLI: slo.Availability, Objective: 0.99},
		{Name: "elsewhere", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.5, Targets: []string{"other"}},
		{Name: "first", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.5, Turns: []probe.TurnKind{probe.First}},
		{Name: "line", SLI: slo.TTFT, Threshold: time.Second, PerThousand: 60 * time.Millisecond, Objective: 0.5, Uncached: slo.Tokens{Below: 4000}},
	}...))
	var got []string
	for _, s := range only(t, p).SLOs {
		got = append(got, strings.Join([]string{s.Name, s.Share.String(), s.Threshold.String(), s.State().Text, s.Statement()}, "|"))
	}
	want := []string{
		"half|50 %|1.00 s|met|50 % of turns have no first token after 1 s; at most 50 % may",
		"up|50 %|n/a|missed|50 % of turns fail; at most 1 % may",
		"first|n/a|1.00 s|no data|n/a of first turns have no first token after 1 s; at most 50 % may",
		"line|100 %|1.00 s|met|0 % of turns with <4k uncached tokens have no first token after 1 s + 60ms per 1k uncached tokens; at most 50 % may",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestBoundedMemory(t *testing.T) {
	p := pageAt(noon)
	long := strings.Repeat("ä", 100_000)
	feed(p, turn(time.Minute, failing(probe.Malformed, long)))
	for i := range 2000 {
		feed(p, turn(time.Duration(2000-i)*time.Millisecond))
	}
	j := p.jobs[probe.Key{Target: "t", Workload: "w"}]
	if n := len(j.samples); n != samplesKept {
		t.Errorf("%d samples, want %d", n, samplesKept)
	}
	if n := len(j.successes); n != successesKept {
		t.Errorf("%d successes, want %d", n, successesKept)
	}
	for _, r := range slices.Concat(j.successes, j.failures) {
		if r.Answer+r.Reasoning+r.Refusal != "" || r.ToolCalls != nil || r.Gaps != nil || len(r.Err) > errorKept+len("…") {
			t.Fatalf("a kept turn has texts, gaps or %d bytes of error", len(r.Err))
		}
	}
	if n := len(j.failures); n != 1 {
		t.Errorf("%d failures are left after many successes, want 1", n)
	}
	if got := only(t, p).Recent; got.Turns != samplesKept || got.Span.String() != "512 ms" {
		t.Errorf("%d turns in %s; the span is that of what is kept", got.Turns, got.Span)
	}
}

// TestPeriod: the figures say which period they cover.
func TestPeriod(t *testing.T) {
	now := noon
	p := newPage(Options{Now: func() time.Time { return now }})
	for _, step := range []struct {
		after time.Duration
		turns int
		want  string
	}{
		{66 * time.Second, 1, "since the start, 66 s"},
		{10 * time.Minute, 1, "over the last 5 min"},
		{0, samplesKept + 1, "over the last 512 turns, 60 s"},
	} {
		now = now.Add(step.after)
		for range step.turns {
			feed(p, turn(noon.Add(time.Minute).Sub(now)))
		}
		if got := only(t, p).Recent.Period; got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
}

// TestSamplesAge: a job drops samples that are older than the window.
func TestSamplesAge(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(2*window), turn(window+time.Minute), turn(window), turn(time.Minute), turn(0))
	if n := len(p.jobs[key("t", "w")].samples); n != 3 {
		t.Errorf("%d samples are kept, want 3", n)
	}
}

// TestPromisedMemory checks the promise of the package's comment: 300 kB for each job.
func TestPromisedMemory(t *testing.T) {
	const texts = 300 // ids, names and the like of one turn
	got := samplesKept*unsafe.Sizeof(sample{}) + minutesKept*unsafe.Sizeof(minute{}) +
		successesKept*(unsafe.Sizeof(probe.Result{})+texts) +
		failuresKept*(unsafe.Sizeof(probe.Result{})+texts+errorKept)
	if got > 300_000 {
		t.Errorf("a job takes up to %d bytes", got)
	}
}

func TestForgottenJobStaysForgotten(t *testing.T) {
	p := pageAt(noon)
	p.Add(jobOf("t", "w"))
	p.Observe(probe.ConversationStart{Target: "t", Workload: "w"})
	p.Observe(probe.Start{Target: "t", Workload: "w"})
	p.Remove(key("t", "w"))
	p.Observe(turn(0))
	p.Observe(probe.Conversation{Target: "t", Workload: "w"})
	if jobs := p.Snapshot().Jobs; len(jobs) != 0 {
		t.Errorf("the end of a turn brought back %+v", jobs)
	}
	p.Add(jobOf("t", "w"))
	p.Observe(probe.Start{Target: "t", Workload: "w", Kind: probe.Followup})
	p.Observe(turn(0))
	p.Observe(turn(0)) // without a start: it belongs to the removed job
	if j := only(t, p); j.TurnsInFlight != 0 || j.Turns != 1 {
		t.Errorf("%d turns in flight, %d ended; want 0 and 1", j.TurnsInFlight, j.Turns)
	}
}

func key(target, workload string) probe.Key { return probe.Key{Target: target, Workload: workload} }

func TestJobsAreSorted(t *testing.T) {
	p := pageAt(noon)
	for _, k := range []probe.Key{key("b", "a"), key("a", "b"), key("a", "a")} {
		p.Add(jobOf(k.Target, k.Workload))
		p.Observe(probe.ConversationStart(k))
	}
	var got []probe.Key
	for _, j := range p.Snapshot().Jobs {
		got = append(got, probe.Key{Target: j.Target, Workload: j.Workload})
	}
	if want := []probe.Key{key("a", "a"), key("a", "b"), key("b", "a")}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestConcurrentUse(t *testing.T) {
	p := pageAt(noon)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				feed(p, turn(time.Minute))
			}
		})
		wg.Go(func() {
			for range 20 {
				p.Snapshot()
				get(t, p, "/")
				p.Add(jobOf("t", "w", objectives()...))
			}
		})
	}
	wg.Wait()
	if j := only(t, p); j.Turns != 800 || j.Conversations != 800 || j.TurnsInFlight != 0 {
		t.Errorf("%+v", j)
	}
}

// TestFiguresOfAnOutage: after three failures in a row and half a minute, figures are those of the outage. A refusal for
// load does not end it.
func TestFiguresOfAnOutage(t *testing.T) {
	some := pageAt(noon)
	feed(some, turn(2*time.Minute), turn(time.Minute))
	for _, ago := range []time.Duration{3, 2, 1} {
		feed(some, turn(ago*time.Second, failing(probe.HTTP5xx, "x")))
	}
	if r := only(t, some).Recent; r.Errors.String() != "60 %" || r.Span.V != window {
		t.Errorf("three failures in three seconds: %s over %s", r.Errors, r.Span)
	}
	p := pageAt(noon)
	feed(p, turn(3*time.Minute), turn(2*time.Minute))
	feed(p, turn(60*time.Second, failing(probe.ConnectError, "x")), turn(40*time.Second, failing(probe.ConnectError, "x")))
	if r := only(t, p).Recent; r.Errors.String() != "50 %" || r.Span.V != window {
		t.Errorf("after two failures: %s over %s", r.Errors, r.Span)
	}
	feed(p, turn(30*time.Second, failing(probe.HTTP429, "busy")), turn(20*time.Second, failing(probe.ConnectError, "x")))
	if r := only(t, p).Recent; r.Errors.String() != "100 %" || r.Span.V != time.Minute {
		t.Errorf("after three failures: %s over %s", r.Errors, r.Span)
	}
	feed(p, turn(0))
	if r := only(t, p).Recent; r.Turns != 7 || r.Span.V != window {
		t.Errorf("after the outage: %d turns over %s", r.Turns, r.Span)
	}
}
