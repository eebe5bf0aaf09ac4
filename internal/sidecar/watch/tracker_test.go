package watch

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// newTracker returns a tracker with one job per target.
func newTracker(now *time.Time, targets ...string) *Tracker {
	r := NewTracker(TrackerOptions{Now: func() time.Time { return *now }})
	for _, j := range jobs(targets...) {
		r.Add(j)
	}
	return r
}

func jobs(targets ...string) (out []fleet.Job) {
	for _, name := range targets {
		var j fleet.Job
		j.Target.Name, j.Workload.Name = name, "chat"
		out = append(out, j)
	}
	return out
}

// TestSign checks the number of consecutive failures. A refusal for load ends the sign but not the count. After it, and
// after many failures, a hanging turn is no sign either.
func TestSign(t *testing.T) {
	r := newTracker(&monday, "a")
	key := probe.Key{Target: "a", Workload: "chat"}
	for _, next := range []struct {
		outcome probe.Outcome
		want    int
		known   bool
	}{
		{probe.HTTP5xx, 1, false}, {probe.HTTP5xx, 2, false}, {probe.Canceled, 2, false}, {probe.HTTP429, 0, true}, {probe.Canceled, 0, true},
		{probe.HTTP5xx, 3, false}, {probe.Success, 0, false}, {probe.HTTP429, 0, true}, {probe.Success, 0, false},
	} {
		r.Observe(probe.Result{Target: "a", Workload: "chat", Kind: probe.First, Outcome: next.outcome, End: monday})
		if got := r.Sign(key); got.Failed != next.want || got.Known != next.known {
			t.Errorf("after %s the sign is %+v, want %d failures and known %v", next.outcome, got, next.want, next.known)
		}
	}
	for range workload.MaxNewFailures {
		r.Observe(probe.Result{Target: "a", Workload: "chat", Kind: probe.First, Outcome: probe.Stall, End: monday})
	}
	if !r.Sign(key).Known {
		t.Error("an outage of ten turns is not known")
	}
	r.Remove(key)
	r.Observe(probe.Result{Target: "a", Workload: "chat", Kind: probe.First, Outcome: probe.HTTP5xx})
	if got := r.Sign(key); got.Failed != 0 || got.Score != 0 {
		t.Errorf("a removed job has the sign %+v", got)
	}
	f := learned(8, 15*time.Second)
	if f.at(1.3, 10*time.Minute); f.Sign(f.key()).Score <= 0 {
		t.Error("a rise is no sign")
	}
	if f.at(4, 10*time.Minute); !f.Sign(f.key()).Known || f.Sign(f.key()).Score != 0 {
		t.Errorf("a page is no known sign: %+v", f.Sign(f.key()))
	}
}

// TestHistories checks that a saved history waits for its job.
func TestHistories(t *testing.T) {
	r := newTracker(&monday, "east", "west", "north")
	histories := maps.Collect(r.Histories())
	if len(histories) != 3 {
		t.Errorf("%d histories", len(histories))
	}
	for _, j := range jobs("west", "south") {
		histories[j.Key()] = histories[probe.Key{Target: "east", Workload: "chat"}]
	}
	r.Restore(File{}, histories)
	if len(histories) != 1 {
		t.Errorf("%d histories wait, want that of south", len(histories))
	}
	r.Add(jobs("south")[0])
	if len(histories) > 0 {
		t.Errorf("with a job that came later, %d wait", len(histories))
	}
}

// TestAwaitedJobsAreKept checks that the tracker saves the restored state of jobs that may still be added.
func TestAwaitedJobsAreKept(t *testing.T) {
	r := NewTracker(TrackerOptions{Awaited: func(target string) bool { return target == "m/late" }})
	late, gone := probe.Key{Target: "m/late", Workload: "w"}, probe.Key{Target: "gone", Workload: "w"}
	r.Restore(File{Jobs: []JobState{{Target: "m/late", Workload: "w"}, {Target: "gone", Workload: "w"}}}, map[probe.Key][]byte{late: {1}, gone: {1}})
	if jobs := r.States().Jobs; len(jobs) != 1 || jobs[0].Target != "m/late" || !r.Saved(late) {
		t.Errorf("kept %v", jobs)
	}
	if got := slices.Collect(maps.Keys(maps.Collect(r.Histories()))); !slices.Equal(got, []probe.Key{late}) {
		t.Errorf("kept the histories of %v", got)
	}
}

// TestAcceptNamesJobs checks which jobs Accept returns for a target and workload.
func TestAcceptNamesJobs(t *testing.T) {
	r := newTracker(&monday, "east", "west")
	since := monday.Add(-2 * time.Hour)
	for _, tt := range []struct {
		target, workload string
		want             int
	}{{"north", "", 0}, {"east", "other", 0}, {"east", "", 1}, {"west", "chat", 1}} {
		got := r.Accept(tt.target, tt.workload, since)
		if len(got) != tt.want || tt.want > 0 && (got[0].Key.Target != tt.target || !got[0].Since.Equal(since)) {
			t.Errorf("%s/%s: %+v", tt.target, tt.workload, got)
		}
	}
}

// TestRestoreAtTheClockOfTheTracker checks that the age of a restored page is judged when the job takes its state.
func TestRestoreAtTheClockOfTheTracker(t *testing.T) {
	var file File
	for _, target := range []string{"north", "south"} {
		up := verdict{Up: true, Seen: minuteOf(monday), Decision: Decision{Limit: limit{Value: 0.7}}}
		file.Jobs = append(file.Jobs, JobState{Target: target, Workload: "chat", Saved: monday, Signals: [signalCount]current{{reports: reports{Page: up}, Minutes: minutes{Told: told{Rise: 0.3}}}}})
	}
	for name, tt := range map[string]struct {
		after, later time.Duration // times of the restart, and of the reload that adds the second job
		want         [2]bool       // whether each job pages
	}{
		"at once":                     {time.Minute, 0, [2]bool{true, true}},
		"after two days":              {48 * time.Hour, 0, [2]bool{false, false}},
		"a reload two days later":     {time.Minute, 48 * time.Hour, [2]bool{true, false}},
		"with a clock that went back": {-48 * time.Hour, time.Hour, [2]bool{false, false}},
		"both just within the hour":   {time.Minute, 59 * time.Minute, [2]bool{true, true}},
	} {
		now := monday.Add(tt.after)
		r := newTracker(&now, "north")
		r.Restore(file, nil)
		now = now.Add(tt.later)
		r.Add(jobs("south")[0])
		for i, j := range r.States().Jobs {
			if got := j.Signals[0].Page.Up; got != tt.want[i] || (j.Signals[0].Minutes.Told.Rise > 0) != (tt.after > 0) || !j.Saved.Equal(now) {
				t.Errorf("%s: %s pages: %v, knows %v, and is saved at %v", name, j.Target, got, j.Signals[0].Minutes.Told, j.Saved)
			}
		}
	}
}

// TestValues checks that a turn that timed out counts with its deadline, and that another failure has no value for the
// signals that it did not reach.
func TestValues(t *testing.T) {
	d := workload.Timeouts{FirstToken: 30 * time.Second, Stall: 10 * time.Second, Total: time.Minute}
	sent, ok := monday, probe.Some(200*time.Millisecond)
	none := probe.Opt[time.Duration]{}
	for name, tt := range map[string]struct {
		r          probe.Result
		ttft, tpot probe.Opt[time.Duration]
	}{
		"success":             {probe.Result{Outcome: probe.Success, TTFT: ok, TPOT: ok}, ok, ok},
		"one token":           {probe.Result{Outcome: probe.Success, TTFT: ok}, ok, none},
		"hang":                {probe.Result{Outcome: probe.TimeoutFirstToken, Sent: sent, End: sent.Add(30 * time.Second)}, probe.Some(30 * time.Second), none},
		"hung longer":         {probe.Result{Outcome: probe.TimeoutTotal, Sent: sent, End: sent.Add(time.Minute)}, probe.Some(time.Minute), none},
		"stalled":             {probe.Result{Outcome: probe.Stall, TTFT: ok, TPOT: ok}, ok, probe.Some(10 * time.Second)},
		"too long in all":     {probe.Result{Outcome: probe.TimeoutTotal, TTFT: ok}, ok, probe.Some(10 * time.Second)},
		"cut":                 {probe.Result{Outcome: probe.Truncated, TTFT: ok, TPOT: ok}, ok, none},
		"refused at once":     {probe.Result{Outcome: probe.ConnectError, Sent: sent, End: sent}, none, none},
		"an error in the end": {probe.Result{Outcome: probe.HTTP5xx, Sent: sent, End: sent.Add(45 * time.Second)}, none, none},
		"refused for load":    {probe.Result{Outcome: probe.HTTP429, Sent: sent, End: sent}, none, none},
		"wrong words":         {probe.Result{Outcome: probe.ContentMismatch, TTFT: ok, TPOT: ok}, ok, ok},
	} {
		got := valuesOf(&tt.r, d)
		for i, want := range []probe.Opt[time.Duration]{tt.ttft, tt.tpot} {
			if got[i].OK != want.OK || want.OK && got[i] != want {
				t.Errorf("%s: signal %d is %+v, want %+v", name, i, got[i], want)
			}
		}
	}
}

// TestFailing: turns fail since the second of several failures in a row. A turn that waited in vain for its first token
// has failed since its start; one that broke off, since its end.
func TestFailing(t *testing.T) {
	turn := func(o probe.Outcome, sent, end int) probe.Result {
		at := func(s int) time.Time { return monday.Add(time.Duration(s) * time.Second) }
		return probe.Result{Outcome: o, Sent: at(sent), End: at(end)}
	}
	for name, tc := range map[string]struct {
		turns []probe.Result
		want  time.Duration // after 100 s
	}{
		"one failure":            {[]probe.Result{turn(probe.ConnectError, 1, 2)}, 0},
		"two":                    {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.ConnectError, 10, 12)}, 88 * time.Second},
		"a hang":                 {[]probe.Result{turn(probe.TimeoutFirstToken, 1, 31), turn(probe.TimeoutFirstToken, 10, 40), turn(probe.TimeoutFirstToken, 20, 50)}, 90 * time.Second},
		"answers that broke off": {[]probe.Result{turn(probe.Truncated, 0, 90), turn(probe.Truncated, 5, 91)}, 9 * time.Second},
		"a good turn between":    {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.Success, 3, 4), turn(probe.ConnectError, 5, 6)}, 0},
		"a refusal between":      {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.HTTP429, 3, 4), turn(probe.ConnectError, 5, 6)}, 94 * time.Second},
		"refusals since then":    {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.ConnectError, 3, 4), turn(probe.ConnectError, 5, 9), turn(probe.HTTP429, 10, 50), turn(probe.HTTP429, 60, 90)}, 5 * time.Second},
		"refusals between":       {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.ConnectError, 3, 4), turn(probe.HTTP429, 5, 50), turn(probe.ConnectError, 85, 90)}, 10 * time.Second},
		"our own fault between":  {[]probe.Result{turn(probe.ConnectError, 1, 2), turn(probe.NotSent, 3, 4), turn(probe.ConnectError, 5, 6)}, 94 * time.Second},
	} {
		var run failureRun
		for _, r := range tc.turns {
			run.add(&r)
		}
		if got := run.lasts(monday.Add(100 * time.Second)); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// TestLateTurnsLeaveNoTrace gives a job absurd turns for which the prober itself was too late. They change no value.
func TestLateTurnsLeaveNoTrace(t *testing.T) {
	const ms = time.Millisecond
	spared := learned(8, 15*time.Second)
	for name, r := range map[string]probe.Result{
		"slow": {
			Outcome: probe.Success, TTFT: probe.Some(time.Minute), TPOT: probe.Some(time.Minute),
			Timing: probe.Timing{Lag: 2000 * ms},
		},
		"not sent": {Outcome: probe.NotSent},
		"late":     {Outcome: probe.ProberLate, TTFT: probe.Some(time.Minute)},
	} {
		f := spared.copy()
		want := f.reading()
		r.Target, r.Workload, r.Kind = "a", "chat", probe.First
		for range 30 {
			f.Observe(r)
		}
		if diff := cmp.Diff(want, f.reading(), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTolerance checks how late the prober may be, by what is usual or, without that, by the value itself. A delay in the
// stream is divided by the number of tokens.
func TestTolerance(t *testing.T) {
	const ms = time.Millisecond
	var bare, known signal
	known.Usual.learned = startEntries
	known.Classes = classes{0: {Turns: few, Mean: float32(math.Log(2))}}
	slow := probe.Result{
		Outcome: probe.Success, TTFT: probe.Some(3 * time.Second), TPOT: probe.Some(50 * ms),
		Tokens: probe.Tokens{OutputTokens: probe.Some(500)},
		Timing: probe.Timing{TPOTTokens: 10},
	}
	for name, tt := range map[string]struct {
		s           *signal
		index       int
		lag, stream time.Duration
		tooLate     bool
	}{
		"below a tenth of the usual":       {&known, 0, 190 * ms, 0, false},
		"above it":                         {&known, 0, 230 * ms, 0, true},
		"below a tenth of the value":       {&bare, 0, 290 * ms, 0, false},
		"above a tenth of the value":       {&bare, 0, 310 * ms, 0, true},
		"a late stream and its first":      {&bare, 0, 0, time.Hour, false},
		"a late first token and the pace":  {&bare, 1, 990 * ms, 0, false},
		"a second too late":                {&bare, 1, 1010 * ms, 0, true},
		"below a tenth of the pace":        {&bare, 1, 0, 49 * ms, false},
		"above a tenth of it, over tokens": {&bare, 1, 0, 51 * ms, true},
	} {
		r, s := slow, *tt.s
		r.Lag, r.StreamLag, s.index = tt.lag, tt.stream, tt.index
		value := []time.Duration{r.TTFT.V, r.TPOT.V}[tt.index]
		if got := s.tooLate(&r, 0, value, monday); got != tt.tooLate {
			t.Errorf("%s: too late %v, want %v", name, got, tt.tooLate)
		}
	}
}

// set returns a time with only its wall reading moved, as if NTP or an administrator had set the clock. A Time holds both
// readings, and package time has no function that changes one alone. The seconds of the wall clock are in the upper bits
// of the first word.
func set(t time.Time, by time.Duration) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) += uint64(by/time.Second) << 30
	return t
}

// TestSetClockChangesNothing gives two jobs the same turns. The wall clock of one is set in the middle of a regression.
func TestSetClockChangesNothing(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -48 * time.Hour} {
		begin := time.Now() // with a monotonic reading
		if after := set(begin, by); after.Sub(begin) != 0 || after.Round(0).Sub(begin.Round(0)) != by {
			t.Fatalf("the wall clock is not set by %v: %v", by, after)
		}
		steady, moved := newFeed(nil), newFeed(nil)
		feeds := []*feed{steady, moved}
		for _, f := range feeds {
			f.now = begin
			f.start()
			f.run(4 * day)
			f.at(3, 6*time.Minute)
		}
		if !pages(steady.ttft()) {
			t.Fatalf("no regression to look at: %+v", steady.ttft())
		}
		moved.now = set(moved.now, by)
		for _, d := range []time.Duration{0, 10 * time.Minute, day} {
			for _, f := range feeds {
				f.run(d)
				f.ratio[0] = 1
			}
			if diff := cmp.Diff(steady.reading(), moved.reading(), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("%v, %v after the step (-steady +stepped):\n%s", by, d, diff)
			}
		}
	}
}

// TestClockSetBack checks that a process whose clock was wrong, a day ahead, leaves nothing behind that the next one
// cannot forget.
func TestClockSetBack(t *testing.T) {
	for _, by := range []time.Duration{2 * time.Hour, day, 40 * day} {
		f := learned(8, 15*time.Second)
		f.now = f.now.Add(by)
		f.restart(0).at(3, 30*time.Minute)
		f.ratio[0] = 1
		f.restart(-by - 10*time.Minute)
		if begun, _ := f.count(0, 3*time.Hour); begun != 0 {
			t.Errorf("%v: %d pages", by, begun)
		}
		if f.at(4, 10*time.Minute); by < 28*day && !pages(f.ttft()) {
			t.Errorf("%v: ×4 does not page: %+v", by, f.ttft())
		}
	}
}
