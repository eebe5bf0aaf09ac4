package sketch

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestWindowHoldsTheLastMinute(t *testing.T) {
	tests := []struct {
		name  string
		after time.Duration
		want  uint64
	}{
		{"at once", 0, 1},
		{"in the same step", Step - 1, 1},
		{"at the last moment", Span - 1, 1},
		{"a minute later", Span, 0},
		{"much later", 100 * Span, 0},
		{"an hour earlier, by a clock that was set back", -time.Hour, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w Window
			var s Sketch
			w.Add(noon, 1)
			w.Collect(noon.Add(tt.after), &s)
			if s.Count() != tt.want {
				t.Errorf("%d values after %v, want %d", s.Count(), tt.after, tt.want)
			}
		})
	}
}

// TestWindowMatchesItsValues compares a window with a list of all values and their times at
// many moments.
func TestWindowMatchesItsValues(t *testing.T) {
	type at struct {
		time  time.Time
		value float64
	}
	var (
		w    Window
		got  Sketch
		all  []at
		rng  = rand.New(rand.NewPCG(3, 4))
		now  = noon
		seen int
	)
	for range 3000 {
		// Mostly short steps, and sometimes a pause longer than a cell or the window.
		now = now.Add(time.Duration(rng.ExpFloat64() * float64([]time.Duration{100 * time.Millisecond, 20 * time.Second}[rng.IntN(20)/19])))
		v := math.Exp(rng.NormFloat64())
		w.Add(now, v)
		all = append(all, at{now, v})
		if rng.IntN(10) > 0 {
			continue
		}
		oldest := all[0].time.Add(now.Sub(all[0].time).Truncate(Step) - (cells-1)*Step)
		var want Sketch
		for _, a := range slices.DeleteFunc(slices.Clone(all), func(a at) bool { return a.time.Before(oldest) }) {
			want.Add(a.value)
		}
		w.Collect(now, &got)
		requireSame(t, &got, &want)
		seen++
	}
	if seen < 100 {
		t.Fatalf("only %d comparisons", seen)
	}
}

// TestWindowGoesOnWhenTheClockIsSet changes the wall clock between two values. It overwrites
// only the wall part of a time, which is in the upper bits of its first word.
func TestWindowGoesOnWhenTheClockIsSet(t *testing.T) {
	for _, shift := range []time.Duration{time.Hour, -time.Hour} {
		var w Window
		var s Sketch
		now := time.Now() // with a monotonic reading
		w.Add(now, 1)
		*(*uint64)(unsafe.Pointer(&now)) += uint64(shift/time.Second) << 30
		w.Add(now.Add(Step), 2)
		if w.Collect(now.Add(Span-1), &s); s.Count() != 2 {
			t.Errorf("%d values after a step by %v, want both", s.Count(), shift)
		}
		if w.Collect(now.Add(Span), &s); s.Count() != 1 {
			t.Errorf("%d values a minute after the first, want the second alone", s.Count())
		}
	}
}

func TestIdleWindowHoldsNoMemory(t *testing.T) {
	var w Window
	var s Sketch
	for i := range 60 {
		w.Add(noon.Add(time.Duration(i)*time.Second), float64(i))
	}
	if w.Bytes() == 0 {
		t.Fatal("a window in use holds no memory")
	}
	w.Collect(noon.Add(3*Span), &s)
	if got := w.Bytes(); got != 0 {
		t.Errorf("an idle window holds %d bytes", got)
	}
}

// TestWindowMemory checks the memory of a window with a thousand log-normal values (σ = 0.5)
// per step.
func TestWindowMemory(t *testing.T) {
	var w Window
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 6000 {
		w.Add(noon.Add(time.Duration(i)*10*time.Millisecond), 0.4*math.Exp(rng.NormFloat64()/2))
	}
	got := w.Bytes()
	t.Logf("%d bytes", got)
	if got > 25<<10 {
		t.Errorf("a busy window holds %d bytes, promised are 25 kB", got)
	}
}
