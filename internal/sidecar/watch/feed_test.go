package watch

import (
	"maps"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

var monday = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// feed gives a tracker with one job turns of both kinds, one every 15 seconds by default, in virtual time.
type feed struct {
	*Tracker
	job   fleet.Job
	pcg   rand.PCG
	rng   *rand.Rand
	now   time.Time
	every time.Duration
	// ratio multiplies the usual 200 ms and 20 ms of each signal, in a share of the turns.
	ratio [signalCount]float64
	share float64
	// spread is the standard deviation of the logarithms of turns, wander that of their level from half hour to half hour.
	spread, wander, level float64
	// shape returns what a time adds to the logarithms; nil means nothing.
	shape func(time.Time) float64
	// edit changes a turn before it is observed; nil means nothing.
	edit  func(*probe.Result)
	turns int
}

// newFeed returns a feed of a new job. Options change the job, nil changes nothing.
func newFeed(options func(*fleet.Job)) *feed {
	f := &feed{now: monday, every: 15 * time.Second, ratio: [...]float64{1, 1}, share: 1, spread: 0.3}
	f.seed(1)
	f.job.Target.Name, f.job.Workload.Name = "a", "chat"
	f.job.Workload.Timeouts.FirstToken = 30 * time.Second
	if options != nil {
		options(&f.job)
	}
	f.start()
	return f
}

func (f *feed) seed(n uint64) {
	f.pcg.Seed(n, 2)
	f.rng = rand.New(&f.pcg)
}

// start begins a new process without any state.
func (f *feed) start() {
	f.Tracker = NewTracker(TrackerOptions{Now: func() time.Time { return f.now }})
	f.Add(f.job)
}

// restart goes on in a new process, after a time without one.
func (f *feed) restart(down time.Duration) *feed { return f.restore(f.Tracker, down) }

func (f *feed) restore(from *Tracker, down time.Duration) *feed {
	state, histories := from.States(), maps.Collect(from.Histories())
	f.now = f.now.Add(down)
	f.start()
	f.Restore(state, histories)
	return f
}

// copy returns another process that goes on from here.
func (f *feed) copy() *feed {
	c := *f
	c.rng = rand.New(&c.pcg)
	return c.restore(f.Tracker, 0)
}

var learnedFeeds sync.Map

// learned returns a feed with some days of a steady level, with some minutes more so that it is within a half hour.
func learned(days int, every time.Duration) *feed {
	type key struct {
		days  int
		every time.Duration
	}
	once, _ := learnedFeeds.LoadOrStore(key{days, every}, sync.OnceValue(func() *feed {
		f := newFeed(nil)
		f.every, f.wander = every, 0.03
		return f.run(time.Duration(days)*day + 10*time.Minute)
	}))
	return once.(func() *feed)().copy()
}

func (f *feed) run(d time.Duration) *feed {
	for end := f.now.Add(d); f.now.Before(end); f.now = f.now.Add(f.every) {
		if f.now.Truncate(halfHour).Equal(f.now) {
			f.level = f.wander * f.rng.NormFloat64()
		}
		f.turn()
	}
	return f
}

func (f *feed) turn() {
	f.turns++
	common := f.level
	if f.shape != nil {
		common += f.shape(f.now)
	}
	slow := f.rng.Float64() < f.share
	value := func(signal int, usual float64) time.Duration {
		ln := common + f.spread*f.rng.NormFloat64()
		if slow {
			ln += math.Log(f.ratio[signal])
		}
		return time.Duration(usual * math.Exp(ln))
	}
	r := probe.Result{
		Target: "a", Workload: "chat", Outcome: probe.Success, Kind: probe.TurnKinds()[f.turns%2], Sent: f.now,
		TTFT: probe.Some(value(0, 200e6)), TPOT: probe.Some(value(1, 20e6)),
		Timing: probe.Timing{TPOTTokens: 50},
		Tokens: probe.Tokens{OutputTokens: probe.Some(50), PromptTokens: probe.Some(100), CachedTokens: probe.Some(50), ContextTokens: probe.Some(50)},
	}
	r.End = f.now.Add(r.TTFT.V)
	if f.edit != nil {
		f.edit(&r)
	}
	f.Observe(r)
}

// at runs the feed with a ratio of the TTFT to what is usual.
func (f *feed) at(ratio float64, d time.Duration) *feed {
	f.ratio[0] = ratio
	return f.run(d)
}

func (f *feed) key() probe.Key { return f.job.Key() }

func (f *feed) reading() Reading {
	r, _ := f.Read(f.key())
	return r
}

func (f *feed) view(signal int) View { return f.reading().Signals[signal] }
func (f *feed) ttft() View           { return f.view(0) }

// usual returns the usual seconds of a follow-up's TTFT.
func (f *feed) usual() float64 { return f.reading().Usual[1][0].V }

func pages(v View) bool   { return v.Page >= 1 }
func tickets(v View) bool { return v.Ticket >= 1 }
func either(v View) bool  { return pages(v) || tickets(v) }
func over(v View) bool    { return !either(v) }

// until runs the feed until the view of a signal satisfies want, at most for d, and returns how long it took.
func (f *feed) until(signal int, d time.Duration, want func(View) bool) time.Duration {
	begin := f.now
	for f.now.Sub(begin) < d && !want(f.view(signal)) {
		f.run(time.Minute)
	}
	return f.now.Sub(begin)
}

// count returns how many pages and tickets of a signal begin while the feed runs.
func (f *feed) count(signal int, d time.Duration) (begun, opened int) {
	last := f.view(signal)
	for end := f.now.Add(d); f.now.Before(end); {
		v := f.run(time.Minute).view(signal)
		if pages(v) && !pages(last) {
			begun++
		}
		if tickets(v) && !tickets(last) {
			opened++
		}
		last = v
	}
	return begun, opened
}

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, by)
	}
}
