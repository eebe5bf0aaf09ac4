package regression

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

var monday = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// feed gives a job turns: twelve first turns a minute.
type feed struct {
	*Job
	rng *rand.Rand
	now time.Time
	// median of the TTFT, and what else happens.
	median time.Duration
	season bool
	fail   probe.Outcome
}

func newFeed(o Options) *feed {
	return &feed{Job: NewJob(o), rng: rand.New(rand.NewPCG(1, 2)), now: monday, median: 200 * time.Millisecond}
}

func (f *feed) run(d time.Duration) *feed {
	for end := f.now.Add(d); f.now.Before(end); f.now = f.now.Add(5 * time.Second) {
		f.turn()
	}
	return f
}

func (f *feed) turn() {
	r := probe.Result{Kind: probe.First, Sent: f.now, Outcome: probe.Success}
	ttft := f.median.Seconds() * math.Exp(0.3*f.rng.NormFloat64())
	if f.season {
		ttft *= math.Exp(0.4 * math.Sin(2*math.Pi*f.now.Sub(monday).Hours()/24))
	}
	r.TTFT = probe.Some(time.Duration(ttft * 1e9))
	r.End = f.now.Add(r.TTFT.V)
	if f.fail != "" {
		r.Outcome, r.TTFT = f.fail, probe.Opt[time.Duration]{}
	}
	f.Observe(&r, f.now)
}

func (f *feed) view() View { return f.View(0, 0, f.now) }

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, by)
	}
}

const day = 24 * time.Hour

func TestYoungBaselineIsTheObjective(t *testing.T) {
	f := newFeed(Options{Thresholds: [kinds][signals]time.Duration{{time.Second, 0}}})
	v := f.run(time.Hour).view()
	if !v.Young || v.Baseline != 1 || !math.IsNaN(v.Noise) || v.Cusum != 0 {
		t.Errorf("after an hour: %+v; want the threshold of 1 s, said to be young", v)
	}
	f.median = 3 * time.Second
	if v := f.run(5 * time.Minute).view(); v.Cusum < v.Limit {
		t.Errorf("3 s against an objective of 1 s: CUSUM %v of %v", v.Cusum, v.Limit)
	}
	without := newFeed(Options{})
	without.median = time.Hour
	if v := without.run(time.Hour).view(); !math.IsNaN(v.Baseline) || v.Cusum != 0 {
		t.Errorf("without objective and history: %+v; want no baseline and no regression", v)
	}
}

func TestMatureBaseline(t *testing.T) {
	v := newFeed(Options{}).run(2 * day).view()
	if v.Young || v.Samples < 20000 {
		t.Errorf("after two days: young %t on %v turns", v.Young, v.Samples)
	}
	near(t, "baseline", v.Baseline, 0.2, 0.005)
	near(t, "noise of a 30-minute level of 360 turns", v.Noise, 0.3/math.Sqrt(360), 0.006)
	near(t, "tail limit", v.TailSeconds, 0.5, 0.02)
}

func TestSeasonIsLearned(t *testing.T) {
	f := newFeed(Options{})
	f.season = true
	f.run(7*day + 6*time.Hour)
	near(t, "baseline at 06:15", f.View(0, 0, f.now.Add(15*time.Minute)).Baseline, 0.2*math.Exp(0.4), 0.02)
	near(t, "baseline at 18:15", f.View(0, 0, f.now.Add(12*time.Hour+15*time.Minute)).Baseline, 0.2*math.Exp(-0.4), 0.01)
}

// TestTimeToLimit: the times that the docs promise, without noise of the level.
func TestTimeToLimit(t *testing.T) {
	for _, tt := range []struct {
		factor   float64
		from, to time.Duration
	}{
		{3, 90 * time.Second, 150 * time.Second},
		{2, 3 * time.Minute, 7 * time.Minute},
	} {
		f := newFeed(Options{})
		f.run(2*day + time.Minute)
		// The level of this feed is steadier than any real one: take a usual noise,
		// after the turn that closes the last half hour.
		f.series[0][0].baseline.noise = 0.06
		f.median = time.Duration(float64(f.median) * tt.factor)
		begin := f.now
		for v := f.view(); v.Cusum < v.Limit && f.now.Sub(begin) < time.Hour; v = f.view() {
			f.run(5 * time.Second)
		}
		if took := f.now.Sub(begin); took < tt.from || took > tt.to {
			t.Errorf("%g times the baseline reached the limit after %v, want %v to %v", tt.factor, took, tt.from, tt.to)
		}
		f.median = 200 * time.Millisecond
		begin = f.now
		for v := f.view(); v.Cusum >= v.Limit; v = f.view() {
			f.run(5 * time.Second)
		}
		if took := f.now.Sub(begin); took > 3*time.Minute {
			t.Errorf("after %g times the baseline the sum took %v to fall below its limit", tt.factor, took)
		}
	}
}

// TestLastingRegressionIsNotAbsorbed: weeks of it leave the baseline where it
// was, whether or not it is large enough to alert.
func TestLastingRegressionIsNotAbsorbed(t *testing.T) {
	for _, factor := range []float64{1.15, 1.3, 2} {
		f := newFeed(Options{})
		f.run(8 * day)
		before := f.view().Baseline
		f.median = time.Duration(float64(f.median) * factor)
		near(t, "baseline after three weeks", f.run(21*day).view().Baseline/before, 1, math.Expm1(drift)+0.01)
	}
}

// TestImprovementIsLearned: a better level becomes the usual one, and the old
// one a regression.
func TestImprovementIsLearned(t *testing.T) {
	f := newFeed(Options{})
	f.run(8 * day)
	f.median = 100 * time.Millisecond
	f.run(8 * day)
	near(t, "baseline", f.view().Baseline, 0.1, 0.003)
	f.median = 200 * time.Millisecond
	f.run(8 * day)
	near(t, "baseline after the old level came back", f.view().Baseline, 0.1, 0.007)
}

// TestImprovementIsNoNoise: a deployment that becomes faster for good stays as
// well watched as it was.
func TestImprovementIsNoNoise(t *testing.T) {
	for _, faster := range []time.Duration{100 * time.Millisecond, 150 * time.Millisecond, 180 * time.Millisecond} {
		f := newFeed(Options{})
		wander := func(d, median time.Duration) {
			for end := f.now.Add(d); f.now.Before(end); {
				f.median = time.Duration(float64(median) * math.Exp(0.05*f.rng.NormFloat64()))
				f.run(BlockLength)
			}
		}
		wander(14*day, 200*time.Millisecond)
		before := f.view().Noise
		for range 10 {
			wander(day, faster)
			if got := f.view().Noise; got > 1.35*before {
				t.Fatalf("from 200 ms to %v: the noise of the level went from %.3f to %.3f", faster, before, got)
			}
		}
		near(t, "baseline", f.view().Baseline/faster.Seconds(), 1, 0.02)
	}
}

func TestChangeWindow(t *testing.T) {
	f := newFeed(Options{})
	f.run(2 * day)
	samples := f.view().Samples
	f.Configure(Options{Changes: []Change{{From: f.now, To: f.now.Add(day), Relearn: true}}})
	if v := f.run(day - time.Minute).view(); v.Samples > samples+500 {
		t.Errorf("%v turns of a change window entered the baseline", v.Samples-samples)
	}
	f.median = 400 * time.Millisecond
	f.run(2 * time.Minute)
	if !f.view().Young {
		t.Error("the baseline was not started anew after the change")
	}
	near(t, "relearned baseline", f.run(2*day).view().Baseline, 0.4, 0.01)
}

func TestBenchmark(t *testing.T) {
	f := newFeed(Options{Benchmarks: Benchmarks{{{Typical: 100 * time.Millisecond, Samples: 300, Noise: 0.05}}}})
	v := f.run(5 * time.Minute).view()
	if v.Young || v.Samples != 300 || v.Noise != 0.05 {
		t.Errorf("with a benchmark: %+v", v)
	}
	near(t, "baseline", v.Baseline, 0.1, 1e-9)
	if v.Cusum == 0 {
		t.Error("twice the benchmark is not seen")
	}
}

// TestFailuresEnterAsTheirDeadline, but not the baseline.
func TestFailuresEnterAsTheirDeadline(t *testing.T) {
	f := newFeed(Options{Timeouts: workload.Timeouts{FirstToken: 30 * time.Second}})
	f.run(2 * day)
	before := f.view()
	f.fail = probe.TimeoutFirstToken
	f.run(2 * time.Minute)
	after := f.view()
	if after.Cusum < after.Limit {
		t.Errorf("two minutes of timeouts: CUSUM %v of %v", after.Cusum, after.Limit)
	}
	mean := (after.Log2 - before.Log2) / (after.Turns - before.Turns)
	near(t, "log2 of a timeout", mean, math.Log2(30e6), 1e-6)
	f.run(2 * time.Hour)
	near(t, "baseline", f.view().Baseline, before.Baseline, 0.003)
}

func TestValues(t *testing.T) {
	d := workload.Timeouts{FirstToken: 30 * time.Second, Stall: 10 * time.Second, Total: time.Minute}
	sent := monday
	ok := probe.Some(200 * time.Millisecond)
	none := probe.Opt[time.Duration]{}
	for name, tt := range map[string]struct {
		r          probe.Result
		ttft, tpot probe.Opt[time.Duration]
	}{
		"success":                {probe.Result{Outcome: probe.Success, TTFT: ok, TPOT: ok}, ok, ok},
		"one token":              {probe.Result{Outcome: probe.Success, TTFT: ok}, ok, none},
		"hang":                   {probe.Result{Outcome: probe.TimeoutFirstToken, Sent: sent, End: sent.Add(30 * time.Second)}, probe.Some(30 * time.Second), none},
		"refused at once":        {probe.Result{Outcome: probe.ConnectError, Sent: sent, End: sent}, probe.Some(30 * time.Second), none},
		"waited longer":          {probe.Result{Outcome: probe.HTTP5xx, Sent: sent, End: sent.Add(45 * time.Second)}, probe.Some(45 * time.Second), none},
		"stalled":                {probe.Result{Outcome: probe.Stall, TTFT: ok}, ok, probe.Some(10 * time.Second)},
		"refused for load":       {probe.Result{Outcome: probe.HTTP429, Sent: sent, End: sent}, none, none},
		"wrong words":            {probe.Result{Outcome: probe.ContentMismatch, TTFT: ok, TPOT: ok}, ok, ok},
		"canceled by a shutdown": {probe.Result{Outcome: probe.Canceled, TTFT: ok}, none, none},
	} {
		if diff := cmp.Diff(values{tt.ttft, tt.tpot}, valuesOf(&tt.r, d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRestart: a new process goes on where the old one stopped, in the middle
// of a regression.
func TestRestart(t *testing.T) {
	f := newFeed(Options{})
	f.run(8 * day)
	f.median = 600 * time.Millisecond
	f.run(10 * time.Minute)
	before := f.view()
	path := filepath.Join(t.TempDir(), "state.json")
	if err := (File{Jobs: []JobState{f.State("a", "chat", f.now)}}).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	file, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Job = NewJob(Options{})
	f.Restore(file.Jobs[0], f.now.Add(sumsLast))
	after := f.view()
	if after.Cusum < after.Limit || after.Young || after.Turns != 0 {
		t.Errorf("after the restart: %+v; want the page to stand and counters from 0", after)
	}
	near(t, "baseline", after.Baseline, before.Baseline, 1e-6)
	near(t, "noise", after.Noise, before.Noise, 1e-6)
	near(t, "baseline a week later", f.run(7*day).view().Baseline/before.Baseline, 1, math.Expm1(drift)+0.01)
}

// TestClockStep: time.Time carries a monotonic reading, and only that counts.
func TestClockStep(t *testing.T) {
	begin := time.Now()
	j := NewJob(Options{})
	j.wall(begin)
	stepped := begin.Add(time.Hour) // as after a step: the monotonic part alone differs by what passed
	if got := j.wall(stepped).Sub(j.wall(begin)); got != time.Hour {
		t.Errorf("an hour took %v", got)
	}
	var s cusum
	s.add(1, math.NaN(), bounds{0.4, 1.3})
	s.add(1, 1, bounds{0.4, 1.3})
	sum, gap := s.sum, s.gap
	s.elapse(-3 * 60)
	if s.gap != gap || s.sum != sum {
		t.Errorf("a clock that went back changed the sum from %v to %v, the gap from %v to %v", sum, s.sum, gap, s.gap)
	}
	s.add(2, 24*60, bounds{0.4, 1.3})
	if s.sum > sum+2 {
		t.Errorf("a jump of a day counts as %v log minutes", s.sum-sum)
	}
}

// TestTogetherIsOnce: turns that end at the same moment count for the time
// since those before them, not one by one, and do not stop the clock.
func TestTogetherIsOnce(t *testing.T) {
	var c cusum
	b := bounds{0.4, 100}
	for range 60 {
		c.add(1.4, 1, b)
		for range 11 {
			c.add(1.4, 0, b)
		}
	}
	if c.sum < 30 || c.sum > 120 {
		t.Errorf("an hour at an excess of 1, twelve turns at a time, is %v log minutes", c.sum)
	}
}

// TestOutliersAreNoRegression: where turns are few, two in a row are not.
func TestOutliersAreNoRegression(t *testing.T) {
	for _, perMinute := range []float64{12, 1, 0.2} {
		var c cusum
		for range 200 {
			c.elapse(1 / perMinute)
		}
		for range 2 {
			c.add(math.Log(100), 1/perMinute, c.bounds(0.3, 0.05))
		}
		if b := c.bounds(0.3, 0.05); c.sum >= b.limit {
			t.Errorf("at %v turns a minute two outliers are %v log minutes, the limit is %v", perMinute, c.sum, b.limit)
		}
	}
}

func TestParts(t *testing.T) {
	f := newFeed(Options{})
	turn := func(connect, ttft, tpot time.Duration) {
		r := probe.Result{
			Kind: probe.First, Outcome: probe.Success, Sent: f.now, TTFT: probe.Some(ttft), TPOT: probe.Some(tpot),
			OutputTokens: probe.Some(100), Phases: probe.Phases{Connect: probe.Some(connect)},
		}
		f.Observe(&r, f.now)
		f.now = f.now.Add(5 * time.Second)
	}
	const ms = time.Millisecond
	if got := f.Parts(0); !math.IsNaN(got[0]) {
		t.Errorf("without turns the parts are %v", got)
	}
	for name, tt := range map[string]struct {
		connect, ttft, tpot time.Duration
		want                Part
	}{
		"slow connect": {500 * ms, 700 * ms, 20 * ms, Connect},
		"queue":        {10 * ms, 700 * ms, 20 * ms, QueuePrefill},
		"slow decode":  {10 * ms, 200 * ms, 40 * ms, Decode},
	} {
		f = newFeed(Options{})
		for range 2000 {
			turn(10*ms, 200*ms, 20*ms)
		}
		for range 120 {
			turn(tt.connect, tt.ttft, tt.tpot)
		}
		got := f.Parts(0)
		largest := 0
		for i := range got {
			if got[i] > got[largest] {
				largest = i
			}
		}
		if Parts()[largest] != tt.want {
			t.Errorf("%s: the excess is %v, largest %s, want %s", name, got, Parts()[largest], tt.want)
		}
	}
}

func TestCachedBaseline(t *testing.T) {
	f := newFeed(Options{})
	turn := func(cached int) {
		r := probe.Result{Kind: probe.Followup, Outcome: probe.Success, TTFT: probe.Some(time.Second), PromptTokens: probe.Some(1000), CachedTokens: probe.Some(cached)}
		f.Observe(&r, f.now)
		f.now = f.now.Add(30 * time.Second)
	}
	for range 2 * 2880 {
		turn(800)
	}
	near(t, "usual ratio", f.CachedBaseline(1, f.now), 0.8, 1e-6)
	for range 8 * 2880 {
		turn(100)
	}
	near(t, "usual ratio after a week without hits", f.CachedBaseline(1, f.now), 0.8, 1e-6)
	if got := f.CachedBaseline(0, f.now); !math.IsNaN(got) {
		t.Errorf("the ratio of turns that never came is %v", got)
	}
}

func TestCountersNeverFall(t *testing.T) {
	f := newFeed(Options{})
	f.median = time.Nanosecond
	last := f.view()
	for range 100 {
		f.run(5 * time.Second)
		v := f.view()
		if v.Log2 < last.Log2 || v.Log2Squared < last.Log2Squared || v.BaselineLog2 < last.BaselineLog2 || v.Turns <= last.Turns {
			t.Fatalf("a counter fell: %+v after %+v", v, last)
		}
		last = v
	}
}
