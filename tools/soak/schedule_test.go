//go:build linux

package main

import (
	"reflect"
	"testing"
	"time"
)

// TestPlan checks the properties of schedules on which the verdicts rely.
func TestPlan(t *testing.T) {
	for _, length := range []time.Duration{minDuration, 5 * time.Minute, 20 * time.Minute, 10 * time.Hour} {
		for seed := range uint64(5) {
			stalls := length > minDuration
			s := plan(length, seed, stalls)
			if !reflect.DeepEqual(s, plan(length, seed, stalls)) {
				t.Fatalf("%v: seed %d gives two schedules", length, seed)
			}
			checkPlan(t, s, length)
		}
	}
}

func checkPlan(t *testing.T, s schedule, length time.Duration) {
	t.Helper()
	outages, end := 0, time.Duration(0)
	for _, p := range s.Phases {
		if p.From != end || p.To <= p.From {
			t.Errorf("%v: %+v after %v", length, p, end)
		}
		end = p.To
	}
	if end != length || !s.Phases[len(s.Phases)-1].Calm {
		t.Errorf("%v: ends after %v with %+v", length, end, s.Phases[len(s.Phases)-1])
	}
	for _, f := range s.Spells {
		if f.Outage {
			outages++
			if f.To-f.From < outageLasts {
				t.Errorf("%v: %s is too short to page", length, f)
			}
		}
		for _, p := range s.Phases {
			if (p.Calm || p.Name == "restart 1") && f.From < p.To && f.To > p.From {
				t.Errorf("%v: %s reaches into %s", length, f, p.Name)
			}
		}
	}
	if outages == 0 {
		t.Errorf("%v: no outage", length)
	}
	faulty, configured := map[int]fault{}, 0
	for i, a := range s.Acts {
		if i > 0 && a.At < s.Acts[i-1].At {
			t.Errorf("%v: %s at %v after %v", length, a.Kind, a.At, s.Acts[i-1].At)
		}
		switch a.Kind {
		case actFault:
			if a.Fault != healthy && (faulty[a.On] != healthy || a.On%calmEvery == 0 || a.On >= kept) {
				t.Errorf("%v: %q of %s, which is %q", length, a.Fault, targetName(a.On), faulty[a.On])
			}
			faulty[a.On] = a.Fault
		case actReload:
			configured = a.On
		}
	}
	for on, f := range faulty {
		if f != healthy {
			t.Errorf("%v: %s stays %q", length, targetName(on), f)
		}
	}
	if configured != 0 {
		t.Errorf("%v: ends with the configuration %q", length, configurations()[configured].Name)
	}
}
