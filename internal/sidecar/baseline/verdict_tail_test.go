package baseline

import "testing"

// TestTailEndsAtTheUsual checks a job whose usual share of slow turns is a tenth: a page about
// a third ends when the share is a tenth again.
func TestTailEndsAtTheUsual(t *testing.T) {
	l := limits{usualTail: 0.1, tail: 0.16}
	for i := range l.spans {
		l.spans[i] = 1
	}
	var s scan
	var v verdict
	minute := int64(10_000)
	run := func(minutes int, share float64) {
		for range minutes {
			s.push(minute, 40, 0, 40*share)
			v.end(&s, minute)
			v.take(minute, l.find(&s, reportedLevel{}, 0, true), true)
			minute++
		}
	}
	run(60, 0.1)
	if v.Up {
		t.Fatal("the usual share is a page")
	}
	run(20, 0.3)
	if !v.Up || !v.Tail {
		t.Fatalf("three times the usual share is no page: %+v", v)
	}

	run(10, 0.1)
	v.take(minute, finding{}, true)
	if v.Up && v.Began < minute-10 {
		t.Errorf("at the usual share the page goes on: %+v", v)
	}
}
