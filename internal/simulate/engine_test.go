package simulate

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// times returns the times of the events.
func times(ctx context.Context, o Options, uncached, output int, emit func() error) ([]time.Duration, error) {
	var at []time.Duration
	start := time.Now()
	err := o.pace(ctx, rand.New(rand.NewPCG(1, 1)), uncached, output, func(int) error {
		at = append(at, time.Since(start))
		return emit()
	})
	return at, err
}

func TestPaceHasNoDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{
			FirstToken: Delay{Median: 100 * time.Millisecond}, InterToken: Delay{Median: 20 * time.Millisecond},
			Prefill: time.Millisecond, TokensPerEvent: 1,
		}
		slow := func() error { time.Sleep(15 * time.Millisecond); return nil }
		got, err := times(t.Context(), o, 32, 4, slow)
		want := []time.Duration{132 * time.Millisecond, 152 * time.Millisecond, 172 * time.Millisecond, 192 * time.Millisecond}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("events at %v, %v; want %v", got, err, want)
		}
	})
}

func TestEngineEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{}.withDefaults()
		ctx, cancel := context.WithTimeout(t.Context(), 130*time.Millisecond)
		defer cancel()
		got, err := times(ctx, o, 0, 5, func() error { return nil })
		if len(got) != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d events, %v; want 1 and the context's error", len(got), err)
		}
		got, err = times(t.Context(), o, 0, 5, func() error { return io.ErrClosedPipe })
		if len(got) != 1 || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%d events, %v; want 1 and emit's error", len(got), err)
		}
	})
}

func TestSpreadIsLogNormal(t *testing.T) {
	d := Delay{Median: time.Second, Sigma: 0.5}
	r := rand.New(rand.NewPCG(1, 2))
	var all []time.Duration
	for range 10_001 {
		all = append(all, d.draw(r))
	}
	slices.Sort(all)
	// The p84 of a log-normal distribution is e^sigma times the median.
	if p50 := all[5000]; p50 < 970*time.Millisecond || p50 > 1030*time.Millisecond {
		t.Errorf("p50 is %v, want about 1s", p50)
	}
	if p84 := all[8413]; p84 < 1590*time.Millisecond || p84 > 1710*time.Millisecond {
		t.Errorf("p84 is %v, want about 1.65s", p84)
	}
}

// transcript returns everything that a client receives in six turns, with times.
func transcript(t *testing.T, seed uint64) (out []reply) {
	synctest.Test(t, func(t *testing.T) {
		_, c, stop := serveInMemory(Options{
			Seed: seed, FirstToken: Delay{Median: time.Second, Sigma: .5}, InterToken: Delay{Median: time.Second, Sigma: .5},
			Answer: Length{Median: 30, Sigma: .3}, TokensPerEvent: 1.7, Incidents: []Incident{{Kind: CutStream, Share: .2}, {Kind: ErrorEvent, Share: .2}},
		})
		for _, q := range []string{"one", "two", "three", "four", "five", "one"} {
			out = append(out, c.say(t, []message{user(q)}, ""))
		}
		stop()
	})
	return out
}

func TestSameSeedSameDraws(t *testing.T) {
	equal := func(a, b reply) bool { return slices.Equal(a.raw, b.raw) && slices.Equal(a.at, b.at) }
	a, b, other := transcript(t, 1), transcript(t, 1), transcript(t, 2)
	if !slices.EqualFunc(a, b, equal) {
		t.Errorf("the same seed gave two transcripts:\n%v\n%v", a, b)
	}
	if slices.EqualFunc(a, other, equal) {
		t.Error("two seeds gave the same transcript")
	}
}
