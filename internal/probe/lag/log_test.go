package lag

import (
	"math/rand/v2"
	"testing"
	"time"
)

// driven is a log whose monitor runs when the test says.
type driven struct {
	log
	now time.Duration
}

func drive() *driven {
	d := &driven{}
	d.rest()
	return d
}

func (d *driven) rest() { d.wake(d.now) }

// quiet lets the monitor run on time.
func (d *driven) quiet(length time.Duration) {
	for end := d.now + length; d.now < end; {
		d.now += interval
		d.rest()
	}
}

// freeze stops the whole process for a time.
func (d *driven) freeze(length time.Duration) {
	d.now += length
	d.rest()
}

func TestQuiet(t *testing.T) {
	d := drive()
	d.quiet(10 * time.Minute)
	longest, lost := d.between(0, d.now, d.now)
	if longest != 0 || lost != 0 || d.lag(d.now) != 0 {
		t.Errorf("a process that is never late: longest %v, lost %v, lag %v", longest, lost, d.lag(d.now))
	}
}

// TestOneFreeze stops the process once, for different lengths and at random times.
func TestOneFreeze(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for length := 50 * time.Millisecond; length < 10*time.Minute; length = length * 3 / 2 {
		d := drive()
		d.quiet(time.Duration(rng.IntN(5000)) * time.Millisecond)
		from := d.now
		d.freeze(length)
		to := d.now
		d.quiet(30 * time.Second)
		longest, lost := d.between(from, to, d.now)
		if longest > length || longest < length-interval || lost != longest {
			t.Errorf("stopped for %v: longest %v, lost %v", length, longest, lost)
		}
		if l, _ := d.between(to, d.now, d.now); l != 0 {
			t.Errorf("stopped for %v: %v were seen after it", length, l)
		}
		if half, _ := d.between(from+length/2, d.now, d.now); half > length-length/2 || half < length/2-interval {
			t.Errorf("stopped for %v: %v were seen of its second half", length, half)
		}
		if got, want := d.lag(d.now) > 0, lost > 3*time.Second; got != want {
			t.Errorf("stopped for %v: lag %v", length, d.lag(d.now))
		}
	}
}

// TestDutyCycle lets the process run for a part of each period, as a CPU quota does.
func TestDutyCycle(t *testing.T) {
	for _, tc := range []struct{ period, on time.Duration }{
		{100 * time.Millisecond, 2 * time.Millisecond},
		{100 * time.Millisecond, 20 * time.Millisecond},
		{time.Second, 10 * time.Millisecond},
		{5 * time.Second, 4 * time.Second},
	} {
		d := drive()
		d.quiet(time.Minute)
		start := d.now
		for d.now < start+2*time.Minute {
			end := d.now + tc.on
			d.rest()
			for d.due <= end {
				d.now = d.due
				d.rest()
			}
			d.now = end
			d.now += tc.period - tc.on
			d.rest()
		}
		off := tc.period - tc.on
		lag := d.lag(d.now)
		if lag > off || float64(lag) < float64(off-interval)/1.5 {
			t.Errorf("%v of %v: lag %v, want about %v", tc.on, tc.period, lag, off)
		}
		longest, lost := d.between(start, d.now, d.now)
		if longest > off || longest < off-interval {
			t.Errorf("%v of %v: longest %v, want %v less the monitor's own sleep", tc.on, tc.period, longest, off)
		}
		if share := float64(lost) / float64(d.now-start); share > float64(off)/float64(tc.period) || share < float64(off-interval)/float64(tc.period)-0.01 {
			t.Errorf("%v of %v: %.3f of the time is lost", tc.on, tc.period, share)
		}
		d.quiet(61 * time.Second)
		if lag := d.lag(d.now); lag != 0 {
			t.Errorf("a minute after %v of %v: lag %v", tc.on, tc.period, lag)
		}
	}
}

// TestGapInProgress reads the log many times during one gap. It must count as one gap.
func TestGapInProgress(t *testing.T) {
	d := drive()
	d.quiet(time.Minute)
	from := d.now
	for range 1000 {
		d.now += 5 * time.Millisecond
		longest, lost := d.between(from, d.now, d.now)
		if want := d.now - from - interval; want >= minGap && (longest != want || lost != want) {
			t.Fatalf("after %v: longest %v, lost %v", d.now-from, longest, lost)
		}
	}
	if lag := d.lag(d.now); lag < 3*time.Second || lag > 5*time.Second {
		t.Errorf("lag %v in a gap of 5 s", lag)
	}
	d.rest()
	if longest, _ := d.between(from, d.now, d.now); longest != 5*time.Second-interval {
		t.Errorf("after the gap: %v", longest)
	}
}

// TestAnyGaps checks bounds for random gaps: the log never exceeds the real gaps, and misses no gap
// that is much longer than the interval of the monitor.
func TestAnyGaps(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		d := drive()
		var frozen, longest time.Duration
		for range 30 {
			d.quiet(time.Duration(rng.IntN(3000)) * time.Millisecond)
			length := time.Duration(rng.ExpFloat64() * float64(300*time.Millisecond))
			d.freeze(length)
			frozen, longest = frozen+length, max(longest, length)
		}
		l, lost := d.between(0, d.now, d.now)
		if l > longest || l < longest-interval-minGap || lost > frozen || lost < frozen-30*(interval+minGap) {
			t.Errorf("seed %d: %v of %v lost, longest %v of %v", seed, lost, frozen, l, longest)
		}
		if d.lag(d.now) > longest {
			t.Errorf("seed %d: lag %v, never later than %v", seed, d.lag(d.now), longest)
		}
	}
}

func TestLongAgoIsForgotten(t *testing.T) {
	d := drive()
	d.quiet(time.Minute)
	d.freeze(10 * time.Second)
	d.quiet(keptSeconds * time.Second)
	if longest, lost := d.between(0, d.now, d.now); longest != 0 || lost != 0 {
		t.Errorf("after %d s: longest %v, lost %v", keptSeconds, longest, lost)
	}
}

func TestTolerance(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0: 20 * time.Millisecond, 60 * time.Millisecond: 20 * time.Millisecond,
		time.Second: 100 * time.Millisecond, time.Minute: time.Second,
	} {
		if got := Tolerance(d); got != want {
			t.Errorf("Tolerance(%v) = %v, want %v", d, got, want)
		}
	}
}
