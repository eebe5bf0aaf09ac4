package status

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"runtime"
	"slices"
	"testing"
	"time"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
)

// TestMinutes checks that each minute has the figures of its turns, by kind, and the baselines
// of that time.
func TestMinutes(t *testing.T) {
	p := New(Options{Now: func() time.Time { return noon }, Baseline: func(probe.Key) (r baseline.Reading, ok bool) {
		r.Views[1][0] = baseline.View{Baseline: probe.Some(0.125), UsualTail: probe.Some(0.375)}
		return r, true
	}})
	feed(p,
		turn(150*time.Second, ttft(time.Second)), turn(140*time.Second, ttft(3*time.Second)), turn(130*time.Second, first),
		turn(90*time.Second, failing(probe.HTTP5xx, "x")), turn(30*time.Second),
	)
	got := p.jobs[key("t", "w")].minutesIn(span{noon.Add(-time.Hour), noon})
	if len(got) != 3 || got[0].at != minuteOf(noon)-3 {
		t.Fatalf("%d minutes, want 3: %+v", len(got), got)
	}
	followups := got[0].kinds[1]
	if followups.turns != 2 || followups.signals[0] != (level{1, 3, 0.125, 0.375}) || !math.IsNaN(float64(followups.signals[1].usual)) || got[0].kinds[0].turns != 1 {
		t.Errorf("the first minute is %+v", got[0])
	}
	if failed := got[1].kinds[1]; failed.failed != 1 || !math.IsNaN(float64(failed.signals[0].p50)) {
		t.Errorf("the second is %+v", got[1])
	}
}

// TestCrowdedMinute checks that all turns and failures of a minute count, even if it has more
// turns than samples are kept.
func TestCrowdedMinute(t *testing.T) {
	p := pageAt(noon)
	for i := range 2 * samplesKept {
		if i < 100 {
			feed(p, turn(90*time.Second, failing(probe.HTTP5xx, "x")))
			continue
		}
		feed(p, turn(70*time.Second))
	}
	feed(p, turn(0))
	got := p.jobs[key("t", "w")].minutesIn(span{noon.Add(-time.Hour), noon})[0].kinds[1]
	if got.turns != 2*samplesKept || got.failed != 100 {
		t.Errorf("%d turns of which %d failed, want %d and 100", got.turns, got.failed, 2*samplesKept)
	}
}

// TestInterrupted checks that no line crosses a period without turns, neither of latencies nor
// of failures.
func TestInterrupted(t *testing.T) {
	minutes := []minute{{at: 100}, {at: 101}, {at: 200}}
	for i := range minutes {
		minutes[i].kinds[0] = minuteKind{turns: 2, failed: 1, signals: [2]level{{p50: 1, p95: 1}}}
	}
	for _, s := range append(latencies(minutes, 0, 0), failures(minutes)) {
		if n := len(s.Points); n != 4 || !math.IsNaN(s.Points[2].Y) || s.Points[2].X != 102*60 {
			t.Errorf("%s: %+v", s.Name, s.Points)
		}
	}
}

// TestClockSetBack checks that turns after the step are shown at once, and that later minutes
// are dropped.
func TestClockSetBack(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(2*time.Hour), turn(-24*time.Hour), turn(-25*time.Hour), turn(5*time.Minute), turn(3*time.Minute), turn(0))
	var got []int32
	for _, m := range p.jobs[key("t", "w")].minutesIn(span{noon.Add(-24 * time.Hour), noon.Add(48 * time.Hour)}) {
		got = append(got, m.at-minuteOf(noon))
	}
	if want := []int32{-120, -5, -3, 0}; !slices.Equal(got, want) {
		t.Errorf("the minutes are %v, want %v", got, want)
	}
}

// TestADayIsKept checks that a page keeps one day, and bounds the memory of a job after a day
// with two turns a minute whose latencies are noise.
func TestADayIsKept(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		for range 3 { // the second collection frees the pools of other tests
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	rng, usual := rand.New(rand.NewPCG(1, 2)), 0.1
	p := New(Options{Baseline: func(probe.Key) (r baseline.Reading, ok bool) {
		v := &r.Views
		v[0][0] = baseline.View{Baseline: probe.Some(4 * usual), UsualTail: probe.Some(10 * usual)}
		v[1][0] = baseline.View{Baseline: probe.Some(usual), UsualTail: probe.Some(2.5 * usual)}
		v[0][1], v[1][1] = v[0][0], v[1][0]
		return r, true
	}})
	const targets, most = 2, 90_000
	began := heap()
	for minute := range minutesKept + 60 {
		usual *= math.Exp(0.003 * math.Sin(float64(minute)/200))
		for i := range targets {
			at := func(r *probe.Result) {
				r.Target, r.TPOT = fmt.Sprint("target-", i), probe.Some(time.Duration(2e7*math.Exp(rng.NormFloat64()/4)))
			}
			ago := -time.Duration(minute) * time.Minute
			feed(p, turn(ago, at, first, ttft(time.Duration(4e8*math.Exp(rng.NormFloat64()/4)))), turn(ago, at, ttft(time.Duration(1e8*math.Exp(rng.NormFloat64()/4)))))
		}
	}
	took := (heap() - began) / targets
	t.Logf("a job holds %d kB after a day", took/1000)
	if took > most && !testing.Short() { // the race detector's heap is larger
		t.Errorf("a job holds %d bytes after a day, want %d at most", took, most)
	}
	got := p.jobs[key("target-0", "w")].minutes.between(time.Unix(0, 0), noon.AddDate(0, 0, 3))
	if len(got) != minutesKept || got[0].at != minuteOf(noon)+59 || got[minutesKept-1].kinds[1].turns != 1 {
		t.Errorf("%d minutes from %d on, want a day from %d on", len(got), got[0].at, minuteOf(noon)+59)
	}
}

// TestDayKeepsFigures checks that counts are read exactly as they were stored, and latencies to 1/8192.
func TestDayKeepsFigures(t *testing.T) {
	var d day
	var want []minute
	unknown := float32(math.NaN())
	for i := range int32(300) {
		m := minute{at: 100 + 3*i}
		for k := range m.kinds {
			m.kinds[k] = minuteKind{turns: uint16(i), failed: math.MaxUint16, signals: [2]level{{0.1 * float32(i), 0.3, 1e9, 0}, {unknown, 0, 1e-9, float32(k)}}}
		}
		d.put(m.at, m.row())
		want = append(want, m)
	}
	near := func(got, want float32) bool {
		return got != got && want != want || math.Abs(float64(got-want)) <= float64(want)/8192
	}
	got := d.between(time.Unix(0, 0), want[299].start())
	if len(got) != len(want) {
		t.Fatalf("%d minutes, want %d", len(got), len(want))
	}
	for i, m := range got {
		for k, kind := range m.kinds {
			w := want[i].kinds[k]
			for s, l := range kind.signals {
				if w := w.signals[s]; !near(l.p50, w.p50) || !near(l.p95, w.p95) || !near(l.usual, w.usual) || !near(l.tail, w.tail) {
					t.Fatalf("minute %d has %+v, want %+v", i, l, w)
				}
			}
			if m.at != want[i].at || kind.turns != w.turns || kind.failed != w.failed {
				t.Fatalf("minute %d is %+v, want %+v", i, m, want[i])
			}
		}
	}
}

// fleet returns a page of some targets that were probed for an hour.
func fleet(targets, aMinute int) *Page {
	p := pageAt(noon)
	for i := range targets {
		name := fmt.Sprintf("target-%d", i)
		for ago := 60 * aMinute; ago > 0; ago-- {
			feed(p, turn(time.Duration(ago)*time.Minute/time.Duration(aMinute), func(r *probe.Result) { r.Target = name }, ttft(time.Duration(100+(ago*7+i*13)%90)*time.Millisecond)))
		}
	}
	p.options.Baseline = someBaseline
	return p
}

// BenchmarkFleet measures the first page of 100 targets.
func BenchmarkFleet(b *testing.B) {
	p := fleet(100, 8)
	for b.Loop() {
		if _, err := p.overview(url.Values{}, chart.Figure); err != nil {
			b.Fatal(err)
		}
	}
}
