package baseline

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
)

// logNormal draws sizes between 2,000 and 150,000 tokens.
func logNormal(median, sigma float64) func(*rand.Rand) int {
	return func(rng *rand.Rand) int {
		return int(min(max(median*math.Exp(sigma*rng.NormFloat64()), 2000), 150_000))
	}
}

func linear(perToken float64) func(float64) float64 {
	return func(tokens float64) float64 { return perToken * tokens }
}

// TestLineIsLearned checks both parts of the line after two days of turns of different sizes, while the level
// moves through the day. The line moves with the level, so its shape is compared.
func TestLineIsLearned(t *testing.T) {
	for _, tt := range []struct {
		base             time.Duration
		perToken, spread float64
	}{
		{300 * time.Millisecond, 60e-6, 0.3},
		{time.Second, 20e-6, 0.2},
		{100 * time.Millisecond, 200e-6, 0.4},
	} {
		f := newFeed(options{})
		f.usual, f.spread, f.tokens, f.extra = tt.base, tt.spread, logNormal(12_000, 1.2), linear(tt.perToken)
		f.shape = func(at time.Time) float64 { return 0.2 * math.Sin(2*math.Pi*float64(at.Hour())/24) }
		f.run(2 * day)
		got := f.view().Line
		if !got.OK {
			t.Fatalf("%+v: no line after two days", tt)
		}
		usual := tt.base.Seconds() + 12_000*tt.perToken
		level := (got.V.Base + 12_000*got.V.PerToken) / usual
		near(t, fmt.Sprintf("%+v: level", tt), level, 1, 0.15)
		near(t, fmt.Sprintf("%+v: seconds per token, relative to the level", tt), got.V.PerToken/tt.perToken/level, 1, 0.05)
		near(t, fmt.Sprintf("%+v: base, relative to the line at 12,000 tokens", tt), (got.V.Base/level-tt.base.Seconds())/usual, 0, 0.05)
	}
}

// TestMixMovesNothing: prompts of 60,000 instead of 2,000 tokens within an hour neither page nor open a ticket, on a
// line and where attention adds a square. A slower deployment pages while they come.
func TestMixMovesNothing(t *testing.T) {
	for name, extra := range map[string]func(float64) float64{
		"linear":    linear(60e-6),
		"quadratic": func(n float64) float64 { return 40e-6*n + 3e-10*n*n },
	} {
		f := newFeed(options{})
		f.usual, f.extra, f.tokens = 300*time.Millisecond, extra, logNormal(6000, 1.2)
		f.run(8 * day)
		for i := range 13 {
			f.tokens = logNormal(2000*math.Pow(30, float64(i)/12), 0.5)
			if f.run(5 * time.Minute); pages(f.view()) || tickets(f.view()) {
				t.Fatalf("%s: a larger mix is a regression after %d min: %+v", name, 5*(i+1), f.view())
			}
		}
		for range 24 {
			if f.run(5 * time.Minute); pages(f.view()) || tickets(f.view()) {
				t.Fatalf("%s: large prompts are a regression: %+v", name, f.view())
			}
		}
		f.ratio = 2
		if took := f.until(time.Hour, pages); took > 15*time.Minute {
			t.Errorf("%s: ×2 pages after %v", name, took)
		}
	}
}

// TestFirstFitMovesNoLevel: mixes of two sizes, whose mean and median differ, in a new job and in one that learned
// its baseline without a line.
func TestFirstFitMovesNoLevel(t *testing.T) {
	for _, tt := range []struct {
		share        float64
		small, large int
	}{{0.4, 1000, 20_000}, {0.45, 1000, 50_000}, {0.9, 2000, 100_000}} {
		for _, days := range []time.Duration{0, 10} {
			if days == 0 && tt.share == 0.9 {
				continue // in its first hours, a job takes one turn in ten for a slow tail
			}
			f := newFeed(options{})
			f.usual, f.extra = 300*time.Millisecond, linear(60e-6)
			f.tokens = func(rng *rand.Rand) int {
				if rng.Float64() < tt.share {
					return tt.small
				}
				return tt.large
			}
			f.hidden = true
			f.run(days * day)
			f.hidden = false
			for range 8 * 4 {
				if f.run(15 * time.Minute); pages(f.view()) || tickets(f.view()) {
					t.Fatalf("%+v after %d days: a page or ticket about a healthy deployment: %+v", tt, days, f.view())
				}
			}
			if !f.view().Line.OK {
				t.Fatalf("%+v after %d days: no line", tt, days)
			}
			f.run(2 * day)
			near(t, fmt.Sprintf("%+v after %d days: ratio", tt, days), math.Log(f.view().Ratio.V), 0, 0.4)
			f.ratio = 2
			most := 15 * time.Minute
			if days > 0 { // limits from days without sizes
				most = time.Hour
			}
			if took := f.until(2*time.Hour, pages); took > most {
				t.Errorf("%+v after %d days: ×2 pages after %v", tt, days, took)
			}
		}
	}
}

// talk gives a feed conversations of four turns. cache is the share of the tokens that a prefix cache holds of those
// that it could hold.
type talk struct {
	*feed
	cache float64
	added func(*rand.Rand) int
}

func (f *talk) conversation() {
	context := 0
	for turn := 1; turn <= 4; turn++ {
		prompt, kind, held := context+f.added(f.rng), probe.Followup, context
		r := success(time.Second)
		if turn == 1 {
			kind, held = probe.First, 2000 // of a system prompt
			prompt += held
		} else {
			r.ContextTokens = probe.Some(context)
		}
		held = int(f.cache * float64(held))
		r.TTFT.V = time.Duration((0.1 + 150e-6*float64(prompt-held)) * math.Exp(0.25*f.rng.NormFloat64()) * 1e9)
		r.Kind, r.Turn, r.TPOT.OK = kind, turn, false
		r.PromptTokens, r.CachedTokens, r.OutputTokens = probe.Some(prompt), probe.Some(held), probe.Some(50)
		f.observe(r, f.now)
		f.now, context = f.now.Add(5*time.Second), prompt+50
	}
}

func (f *talk) pages(d time.Duration) bool {
	for end := f.now.Add(d); f.now.Before(end); {
		f.conversation()
		for _, v := range f.views(f.now) {
			if pages(v[0]) {
				return true
			}
		}
	}
	return false
}

// TestLostCacheIsARegression: a prefix cache that holds nothing any more makes no turn larger, neither where all
// prompts are alike nor where they differ, also after a restart in the fault. Rare long prompts are no regression.
func TestLostCacheIsARegression(t *testing.T) {
	for name, added := range map[string]func(*rand.Rand) int{
		"equal prompts":       func(rng *rand.Rand) int { return 200 + rng.IntN(40) },
		"prompts that differ": logNormal(4000, 0.8),
		"rare long prompts": func(rng *rand.Rand) int {
			if rng.Float64() < 0.03 {
				return 1000 + rng.IntN(2000)
			}
			return 200 + rng.IntN(40)
		},
	} {
		f := &talk{newFeed(options{}), 0, added}
		f.conversation() // a cold cache
		if f.cache = 1; f.pages(9 * day) {
			t.Errorf("%s: a page about a healthy deployment: %+v", name, f.views(f.now))
		}
		if name != "equal prompts" && !f.views(f.now)[1][0].Line.OK {
			t.Errorf("%s: no line", name)
		}
		history, state := f.archive(), f.state(f.now)
		if f.cache = 0; !f.pages(time.Hour) {
			t.Errorf("%s: a lost cache does not page: %+v", name, f.views(f.now))
		}
		next := testJob(options{})
		next.restore(state, f.now)
		if err := next.restoreArchive(history); err != nil {
			t.Fatal(err)
		}
		if f.job = next; !f.pages(2 * time.Hour) {
			t.Errorf("%s: a lost cache does not page after a restart: %+v", name, f.views(f.now))
		}
	}
}

// TestNewSizeIsNotLearnedFromAFault: deadlines of hung turns and turns of a change window teach no new size.
func TestNewSizeIsNotLearnedFromAFault(t *testing.T) {
	f := newFeed(options{})
	f.tokens, f.extra = logNormal(4000, 0.5), linear(60e-6)
	f.run(8 * day)
	s := &f.series[0][0]
	for range 40 {
		for _, tt := range []turn{{failed: true}, {changing: true}, {extra: true}} {
			tt.ln, tt.size = math.Log(30), 1e6
			s.observe(tt, f.now)
		}
	}
	if c := s.size.Classes[classOf(1e6)]; c != nil {
		t.Errorf("a new size was learned: %+v", c)
	}
	for range 40 {
		s.observe(turn{ln: math.Log(30), size: 1e6}, f.now)
	}
	near(t, "effect of a new size", s.size.effect(1e6), math.Log(30)-logSeconds(time.Duration(f.view().Baseline.V*1e9)), 0.2)
}

// TestLineIsKept: a restart keeps the line, and a damaged one is dropped.
func TestLineIsKept(t *testing.T) {
	f := newFeed(options{})
	f.tokens, f.extra = logNormal(12_000, 1.2), linear(60e-6)
	f.run(2 * day)
	text, err := json.Marshal(f.state(f.now))
	if err != nil {
		t.Fatal(err)
	}
	read := func() (st JobState) {
		if err := json.Unmarshal(text, &st); err != nil {
			t.Fatal(err)
		}
		return st
	}
	next := testJob(options{})
	next.restore(read(), f.now.Add(5*time.Hour))
	if diff := cmp.Diff(f.series[0][0].size, next.series[0][0].size); diff != "" || !next.series[0][0].size.known() {
		t.Errorf("the line after a restart (-want +got):\n%s", diff)
	}
	for name, damage := range map[string]func(*sizeLine){
		"infinite":   func(l *sizeLine) { l.PerToken = math.Inf(1) },
		"negative":   func(l *sizeLine) { l.Base = -1 },
		"a residual": func(l *sizeLine) { l.Classes[27].Residual = math.NaN() },
		"no class":   func(l *sizeLine) { l.Classes[27] = nil },
		"a number":   func(l *sizeLine) { l.Classes[-1] = &sizeClass{} },
		"the level":  func(l *sizeLine) { l.Level = 1e300 },
	} {
		bad := read()
		damage(&bad.Series[0].Size)
		next := testJob(options{})
		if next.restore(bad, f.now); next.series[0][0].size.known() {
			t.Errorf("%s: the damaged line is used", name)
		}
	}
}
