package wire

import (
	"testing"
	"time"
)

func TestClockMap(t *testing.T) {
	const (
		us   = time.Microsecond
		ms   = time.Millisecond
		s    = time.Second
		wall = 1_763_600_000 * s // at the zero of the monotonic clock
	)
	// reading has the clocks at one read, and the kernel's timestamp.
	type reading struct {
		wall, now, stamp time.Duration
		want             time.Duration
		trusted          bool
	}
	for name, readings := range map[string][]reading{
		"steady": {
			{wall + 1*s, 1 * s, wall + 1*s - 5*us, 1*s - 5*us, true},
			{wall + 2*s, 2 * s, wall + 2*s - 70*ms, 2*s - 70*ms, true},
		},
		"preempted between the clocks": {
			{wall + 1*s, 1*s + 800*us, wall + 1*s - 5*us, 1*s - 5*us, true},
			{wall + 2*s, 2 * s, wall + 2*s - 5*us, 2*s - 5*us, true},
		},
		"a timestamp from the future": {
			{wall + 1*s, 1 * s, wall + 1*s + 9*us, 1 * s, true},
		},
		"a timestamp before the last": {
			{wall + 1*s, 1 * s, wall + 1*s - 5*us, 1*s - 5*us, true},
			{wall + 2*s, 2 * s, wall + 1*s - 9*us, 1*s - 5*us, true},
		},
		"stepped forward an hour": {
			{wall + 1*s, 1 * s, wall + 1*s - 5*us, 1*s - 5*us, true},
			{wall + 3602*s, 2 * s, wall + 2*s - 5*us, 2 * s, false},
			{wall + 3603*s, 3 * s, wall + 3603*s - 5*us, 3*s - 5*us, true},
		},
		"stepped back an hour": {
			{wall + 1*s, 1 * s, wall + 1*s - 5*us, 1*s - 5*us, true},
			{wall - 3598*s, 2 * s, wall + 2*s - 5*us, 2 * s, false},
			{wall - 3597*s, 3 * s, wall - 3597*s - 5*us, 3*s - 5*us, true},
		},
		"suspended, so that the monotonic clock stood still": {
			{wall + 1*s, 1 * s, wall + 1*s - 5*us, 1*s - 5*us, true},
			{wall + 602*s, 2 * s, wall + 602*s - 5*us, 2 * s, false},
		},
		"stepped at the first read": {
			{wall + 100*s, 1 * s, wall + 1*s - 5*us, 1 * s, false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var m clockMap
			m.learn(wall)
			for i, r := range readings {
				at, trusted := m.arrival(r.wall, r.now, r.stamp)
				if at != r.want || trusted != r.trusted {
					t.Errorf("reading %d: got %v, %v; want %v, %v", i, at, trusted, r.want, r.trusted)
				}
			}
		})
	}
}

// TestClockMapSmear slows or hastens the wall clock alone by 1 s in a day, as for a leap second. The kernel
// usually adjusts the monotonic clock alike, which is the steady case of TestClockMap.
func TestClockMapSmear(t *testing.T) {
	for _, drift := range []time.Duration{-11600 * time.Nanosecond, 11600 * time.Nanosecond} { // in each second
		var m clockMap
		untrusted := 0
		const seconds = 24 * 3600
		for i := range time.Duration(seconds) {
			now := (i + 1) * time.Second
			wall := 1_763_600_000*time.Second + now + i*drift
			const age = 70 * time.Millisecond
			at, trusted := m.arrival(wall, now, wall-age)
			if !trusted {
				untrusted++
			} else if off := at - (now - age); off.Abs() > maxClockNoise {
				t.Fatalf("after %d s the arrival is %s off", i, off)
			}
		}
		if untrusted > seconds/80 {
			t.Errorf("drift %s: %d of %d timestamps cannot be mapped", drift, untrusted, seconds)
		}
	}
}
