package baseline

import (
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// set returns a time with only its wall reading moved, as if NTP or an administrator had set
// the clock. A Time holds both readings, and package time has no function that changes one
// alone. The seconds of the wall clock are in the upper bits of the first word.
func set(t time.Time, by time.Duration) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) += uint64(by/time.Second) << 30
	return t
}

func TestSetMovesTheWallClockAlone(t *testing.T) {
	now := time.Now()
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		after := set(now, by)
		if passed := after.Sub(now); passed != 0 {
			t.Errorf("set by %v: %v passed", by, passed)
		}
		if moved := after.Round(0).Sub(now.Round(0)); moved != by {
			t.Errorf("set by %v: the wall clock moved by %v", by, moved)
		}
	}
}

// TestSetClockChangesNothing gives two jobs the same turns. The wall clock of one is set in the
// middle of a regression. All exported values must be equal to the last bit, also a day later,
// when half hours after the step are in the baseline.
func TestSetClockChangesNothing(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 48 * time.Hour, -time.Minute} {
		begin := time.Now() // with a monotonic reading
		steady, moved := newFeed(options{}), newFeed(options{})
		steady.now, moved.now = begin, begin
		compare := func(when string) {
			t.Helper()
			if diff := cmp.Diff(steady.view(), moved.view(), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("%v, %s (-steady +stepped):\n%s", by, when, diff)
			}
		}
		for _, f := range []*feed{steady, moved} {
			f.run(3 * day)
			f.at(3, 6*time.Minute)
		}
		if v := steady.view(); !pages(v) || !v.Noise.OK {
			t.Fatalf("no regression to look at: %+v", v)
		}
		moved.now = set(moved.now, by)
		compare("at the step")
		for _, f := range []*feed{steady, moved} {
			f.run(10 * time.Minute)
		}
		compare("ten minutes after it")
		for _, f := range []*feed{steady, moved} {
			f.at(1, day)
		}
		compare("a day after it")
	}
}
