package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"synthetic/internal/probe"
)

var monday = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// feed gives a job first turns, one every 20 seconds by default.
type feed struct {
	*job
	rng   *rand.Rand
	now   time.Time
	every time.Duration
	// usual is the median of the TTFT, which ratio multiplies. wander is the standard deviation
	// of the logarithm of the level from half hour to half hour.
	usual         time.Duration
	ratio, wander float64
	// shape returns what a time of day or week adds to the logarithm; nil means nothing.
	shape func(time.Time) float64
	fail  probe.Outcome
	// spread is the standard deviation of the logarithm of turns.
	spread float64
	level  float64
	// tokens draws the uncached prompt tokens of a turn, which cost extra seconds; nil means that all
	// turns are alike.
	tokens func(*rand.Rand) int
	extra  func(tokens float64) float64
	// hidden is true while answers do not say their tokens.
	hidden bool
}

func testJob(o options) *job { return newJob(probe.Key{Target: "a", Workload: "chat"}, o) }

func newFeed(o options) *feed {
	return &feed{job: testJob(o), rng: rand.New(rand.NewPCG(1, 2)), now: monday, usual: 200 * time.Millisecond, ratio: 1, every: 20 * time.Second, spread: 0.3}
}

func (f *feed) run(d time.Duration) *feed {
	for end := f.now.Add(d); f.now.Before(end); f.now = f.now.Add(f.every) {
		if f.now.Truncate(BlockLength).Equal(f.now) {
			f.level = f.wander * f.rng.NormFloat64()
		}
		f.turn()
	}
	return f
}

func (f *feed) turn() {
	ln := f.level + f.spread*f.rng.NormFloat64()
	if f.shape != nil {
		ln += f.shape(f.now)
	}
	seconds, tokens := f.usual.Seconds(), 0
	if f.tokens != nil {
		tokens = f.tokens(f.rng)
		seconds += f.extra(float64(tokens))
	}
	r := success(time.Duration(seconds * f.ratio * math.Exp(ln) * 1e9))
	if f.hidden {
		r.PromptTokens.OK = false
	} else if tokens > 0 {
		r.PromptTokens, r.CachedTokens = probe.Some(tokens+500), probe.Some(500)
	}
	r.Sent, r.End, r.TPOT = f.now, f.now.Add(r.TTFT.V), probe.Opt[time.Duration]{}
	if f.fail != "" {
		r.Outcome, r.TTFT = f.fail, probe.Opt[time.Duration]{}
	}
	f.observe(r, f.now)
}

// at runs the feed with a ratio to the baseline.
func (f *feed) at(ratio float64, d time.Duration) *feed {
	f.ratio = ratio
	return f.run(d)
}

func (f *feed) view() View { return f.views(f.now)[0][0] }

func (f *feed) usualCached(kind int) probe.Opt[float64] { return f.cached[kind].usual(f.wall(f.now)) }

// until runs the feed until a view satisfies want, at most for d. It returns the time that this
// took.
func (f *feed) until(d time.Duration, want func(View) bool) time.Duration {
	begin := f.now
	for f.now.Sub(begin) < d && !want(f.view()) {
		f.run(time.Minute)
	}
	return f.now.Sub(begin)
}

func pages(v View) bool   { return v.Page >= 1 }
func tickets(v View) bool { return v.Ticket >= 1 }

// pagesIn returns the number of pages that begin while the feed runs.
func (f *feed) pagesIn(d time.Duration) (pages int) {
	up := f.view().Page >= 1
	for end := f.now.Add(d); f.now.Before(end); {
		now := f.run(time.Minute).view().Page >= 1
		if now && !up {
			pages++
		}
		up = now
	}
	return pages
}

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, by)
	}
}

// success returns a successful turn with a time to first token.
func success(ttft time.Duration) *probe.Result {
	return &probe.Result{Outcome: probe.Success, Kind: probe.First, TTFT: probe.Some(ttft), TPOT: probe.Some(ttft / 10),
		PromptTokens: probe.Some(100), CachedTokens: probe.Some(50), OutputTokens: probe.Some(10), End: monday.Add(ttft), Sent: monday}
}
