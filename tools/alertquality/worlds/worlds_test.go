package worlds

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// figures are statistics of a course.
type figures struct {
	c        *course
	mean, sd float64
}

// modelOf returns a model.
func modelOf(t *testing.T, name string) Model {
	t.Helper()
	all := slices.Concat(Chosen(), Sealed())
	i := slices.IndexFunc(all, func(m Model) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("no model has the name %q", name)
	}
	return all[i]
}

func figuresOf(t *testing.T, name string, length time.Duration) figures {
	t.Helper()
	m := modelOf(t, name)
	f := figures{c: newCourse(m, 7, length)}
	var sum, squares float64
	for _, v := range f.c.level {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	n := float64(len(f.c.level))
	f.mean = sum / n
	f.sd = math.Sqrt(squares/n - f.mean*f.mean)
	return f
}

// autocorrelation returns the autocorrelation of the level after a time.
func (f figures) autocorrelation(over time.Duration) float64 {
	k, sum := int(over/courseStep), 0.0
	for i := range len(f.c.level) - k {
		sum += (float64(f.c.level[i]) - f.mean) * (float64(f.c.level[i+k]) - f.mean)
	}
	return sum / float64(len(f.c.level)-k) / (f.sd * f.sd)
}

// average returns the mean of a track within some hours of some days.
func (f figures) average(track []float32, from, to float64, days func(d int) bool) float64 {
	sum, n := 0.0, 0.0
	for i, v := range track {
		if h := hour(i); h >= from && h < to && days(dayOf(i)) {
			sum, n = sum+float64(v), n+1
		}
	}
	return sum / n
}

func (f figures) largest() float64 { return float64(slices.Max(f.c.level)) }

// risen returns a function that returns the hours above a limit for each 1/times of a week.
func risen(track func(*course) []float32, limit, times float64) func(figures) float64 {
	return func(f figures) float64 {
		n := 0
		for _, v := range track(f.c) {
			if float64(v) > limit {
				n++
			}
		}
		return courseStep.Hours() * float64(n) / times / (f.c.length().Hours() / (7 * 24))
	}
}

// TestWorlds compares each course with its description.
func TestWorlds(t *testing.T) {
	every := func(int) bool { return true }
	working, known := func(d int) bool { return !weekend(d) }, map[string]figures{}
	for _, tt := range []struct {
		world, what string
		low, high   float64
		of          func(f figures) float64
	}{
		{"typical", "SD", 0.09, 0.15, func(f figures) float64 { return f.sd }},
		{"typical", "kept after 10 min", 0.4, 0.75, func(f figures) float64 { return f.autocorrelation(10 * time.Minute) }},
		{"typical", "afternoon against night", 0.08, 0.25, func(f figures) float64 {
			return f.average(f.c.level, 14, 16, working) - f.average(f.c.level, 1, 3, working)
		}},
		{"autoscale", "share on cold replicas", 0.003, 0.05, func(f figures) float64 { return f.average(f.c.slow, 0, 24, every) }},
		{"autoscale", "share in the morning against the night", 1.5, 100, func(f figures) float64 {
			return f.average(f.c.slow, 8, 12, working) / (1e-9 + f.average(f.c.slow, 0, 5, every))
		}},
		{"pareto", "share of misses", 0.25, 0.35, func(f figures) float64 { return f.average(f.c.slow, 0, 24, every) }},
		{"deployments", "largest", math.Log(1.2), 0.3 + math.Log(1.25), figures.largest},
		{"deployments", "kept after a day", 0.5, 1, func(f figures) float64 { return f.autocorrelation(day) }},
		{"neighbours", "bursts a day", 2, 4, func(f figures) float64 {
			n := 0
			for i := 1; i < len(f.c.level); i++ {
				if f.c.level[i]-f.c.level[i-1] > 0.35 {
					n++
				}
			}
			return float64(n) / 60
		}},
		{"wander-1h", "SD", 0.18, 0.22, func(f figures) float64 { return f.sd }},
		{"wander-1h", "kept after an hour", 0.3, 0.43, func(f figures) float64 { return f.autocorrelation(time.Hour) }},
		{"weekend", "factor at noon of working days", 2.3, 3.6, func(f figures) float64 { return math.Exp(f.average(f.c.level, 13, 14, working)) }},
		{"weekend", "level on weekends", -0.03, 0.03, func(f figures) float64 { return f.average(f.c.level, 0, 24, weekend) }},
		{"night-batch", "hours of each night above ×1.3", 0.6, 1.6, risen(level, math.Log(1.3), 7)},
		{"morning-replicas", "share on cold replicas", 0.003, 0.1, func(f figures) float64 { return f.average(f.c.slow, 0, 24, every) }},
		{"releases", "hours of each second day with cold caches", 0.15, 0.35, risen(slow, 0.5, 3.5)},
		{"slower-faster", "largest", math.Log(1.3), math.Log(1.75), figures.largest},
		{"sizes", "share of long prompts", 0.25, 0.4, func(f figures) float64 { return f.average(f.c.long, 0, 24, every) }},
		{"sizes-by-day", "share of long prompts on the first day", 0.05, 0.6, func(f figures) float64 { return f.average(f.c.long, 0, 24, func(d int) bool { return d == 0 }) }},
		{"monday-backlog", "hours of each Monday above ×1.4", 1.8, 4.5, risen(level, math.Log(1.4), 1)},
		{"weekly-job", "hours of each week above ×1.4", 1.3, 2.2, risen(level, math.Log(1.4), 1)},
		{"rate-limiter", "hours of each week above ×1.7", 1, 3, risen(level, math.Log(1.7), 1)},
		{"month-end", "level at the end of January", 0.35, 0.9, func(f figures) float64 {
			return f.average(f.c.level, 9, 18, func(d int) bool { return d >= 24 && d <= 26 }) - f.average(f.c.level, 9, 18, func(d int) bool { return d >= 10 && d <= 12 })
		}},
	} {
		if known[tt.world].c == nil {
			known[tt.world] = figuresOf(t, tt.world, 60*day)
		}
		if got := tt.of(known[tt.world]); got < tt.low || got > tt.high {
			t.Errorf("%s: %s %.3f, want %.3f to %.3f", tt.world, tt.what, got, tt.low, tt.high)
		}
	}
}

// TestCourseOfASeed: the seed alone determines a course.
func TestCourseOfASeed(t *testing.T) {
	for _, m := range slices.Concat(Chosen(), Sealed()) {
		a, again, other := newCourse(m, 3, 9*day), newCourse(m, 3, 9*day), newCourse(m, 4, 9*day)
		if !reflect.DeepEqual(a, again) {
			t.Errorf("%s: two courses of a seed differ", m.Name)
		}
		if reflect.DeepEqual(a, other) {
			t.Errorf("%s: two seeds have the same course", m.Name)
		}
	}
}

// TestSingleTurns checks the tails of single turns.
func TestSingleTurns(t *testing.T) {
	const n = 200_000
	for world, want := range map[string]struct{ slower3, slower8, missed [2]float64 }{
		"pareto": {[2]float64{0.1, 0.2}, [2]float64{0.003, 0.03}, [2]float64{0.27, 0.33}},
	} {
		m := modelOf(t, world)
		c, rng := newCourse(m, 1, 30*day), rand.New(rand.NewPCG(1, 1))
		var slower3, slower8, missed float64
		for range n {
			log, miss := m.deviation(c, rng.IntN(len(c.level)), rng)
			if log > math.Log(3) {
				slower3++
			}
			if log > math.Log(8) {
				slower8++
			}
			if miss {
				missed++
			}
		}
		for what, v := range map[string]struct {
			got  float64
			want [2]float64
		}{"×3": {slower3, want.slower3}, "×8": {slower8, want.slower8}, "missed": {missed, want.missed}} {
			if share := v.got / n; share < v.want[0] || share > v.want[1] {
				t.Errorf("%s: share of turns %s: %.4f, want %v", world, what, share, v.want)
			}
		}
	}
}
