package baseline

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestHistoryIsARing compares a history with a plain map, over gaps of all sizes, clocks that
// are set back and more weeks than it holds.
func TestHistoryIsARing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var h history
	want := map[int64]float64{}
	minute := minuteOf(monday)
	for range 3000 {
		switch rng.IntN(100) {
		case 0:
			minute += rng.Int64N(2 * historyMinutes)
		case 1:
			minute -= rng.Int64N(5000)
		default:
			minute += 1 + rng.Int64N(40)
		}
		mean := math.Round(rng.NormFloat64()*packed) / packed
		h.put(minute, 3, mean, 1)
		for m := range want {
			if m >= minute || m <= minute-historyMinutes {
				delete(want, m)
			}
		}
		want[minute] = mean
	}
	n, last := 0, int64(0)
	h.each(func(m int64, turns, mean, tail float64) {
		if got, ok := want[m]; !ok || got != mean || turns != 3 || tail != 1 || m <= last {
			t.Fatalf("minute %d has %v turns of %v, want %v (%v)", m, turns, mean, got, ok)
		}
		n, last = n+1, m
	})
	if n != len(want) || h.last() != minute {
		t.Errorf("%d minutes up to %d, want %d up to %d", n, h.last(), len(want), minute)
	}
}

func TestHistoryPacks(t *testing.T) {
	var h history
	for i, v := range []struct{ turns, mean, tail float64 }{
		{0, 1, 0}, {math.NaN(), 1, 0}, {1000, -99, 500}, {2, 99, 0},
	} {
		h.put(minuteOf(monday)+int64(i), v.turns, v.mean, v.tail)
	}
	var got [][3]float64
	h.each(func(_ int64, turns, mean, tail float64) { got = append(got, [3]float64{turns, mean, tail}) })
	if len(got) != 2 || got[0] != [3]float64{255, -mostMean, 128} || got[1] != [3]float64{2, mostMean, 0} {
		t.Errorf("kept %v, want the two minutes with turns, within bounds, and the share of one half", got)
	}
	if h.length() != 2*time.Minute {
		t.Errorf("it covers %v", h.length())
	}
}

// TestArchive checks that a restored job has the same values and limits.
func TestArchive(t *testing.T) {
	f := newFeed(options{})
	f.wander = 0.05
	f.run(10*day + time.Minute)
	archive := f.archive()
	if len(archive) > 10*24*60*6+entryCount*20 {
		t.Errorf("ten days are %d bytes", len(archive))
	}
	next := newFeed(options{})
	next.now, next.rng, next.wander, next.level = f.now, f.rng, f.wander, f.level
	if err := next.restoreArchive(archive); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(archive, next.archive()) {
		t.Error("restored, and not the same when archived again")
	}
	near(t, "baseline", next.view().Baseline.V/f.view().Baseline.V, 1, 0.02)
	a, b := f.run(BlockLength).series[0][0].pages, next.run(BlockLength).series[0][0].pages
	for i := range a.spans {
		near(t, "a limit", b.spans[i]/a.spans[i], 1, 0.1)
	}
	if next.view().Young || next.view().History < 9*day {
		t.Errorf("restored: %+v", next.view())
	}
}

// FuzzRestoreHistory checks that damaged data causes no panic and no value that is not a
// number.
func FuzzRestoreHistory(f *testing.F) {
	short := newFeed(options{})
	short.every = time.Minute
	archive := short.run(8 * time.Hour).archive()
	f.Add(archive)
	f.Add(archive[:len(archive)/2])
	f.Add([]byte{archiveVersion})
	f.Add(append([]byte{archiveVersion, 1, 0xff, 0xff, 0xff, 0xff, 0x7f}, make([]byte, 40)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		j := testJob(options{})
		if err := j.restoreArchive(data); err != nil {
			if v := j.views(monday)[0][0]; v.Samples != 0 {
				t.Errorf("refused, and %v turns of it taken", v.Samples)
			}
			return
		}
		now := monday.Add(9 * time.Hour)
		for i := range 40 {
			j.observe(success(time.Second), now.Add(time.Duration(i)*time.Minute))
			checkViews(t, j, now.Add(time.Duration(i)*time.Minute))
		}
		j.accept(now, now.Add(time.Hour))
		again := testJob(options{})
		if err := again.restoreArchive(j.archive()); err != nil {
			t.Errorf("not restored once more: %v", err)
		}
	})
}
