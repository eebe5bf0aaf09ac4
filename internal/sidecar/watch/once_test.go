package watch

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// seeds can be raised to hundreds after a change of the detector: a hundred take half a minute.
var seeds = flag.Int("seeds", 25, "random sequences of TestNothingPagesTwice")

// TestNothingPagesTwice gives jobs random sequences of levels, with accepts and restarts at random times. A page of a
// level is the only one until the level is another one, whatever ended it.
func TestNothingPagesTwice(t *testing.T) {
	count := *seeds
	if testing.Short() {
		count = min(count, 8)
	}
	for seed := range count {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		every := []time.Duration{10 * time.Second, 15 * time.Second, 30 * time.Second}[seed%3]
		f := learned(8, every)
		f.seed(uint64(seed))
		f.wander = []float64{0, 0.03, 0.06}[rng.IntN(3)]
		var story strings.Builder
		tell := func(format string, args ...any) {
			fmt.Fprintf(&story, "%s "+format+"\n", append([]any{f.now.Format("02 15:04")}, args...)...)
		}
		for begin := f.now; f.now.Sub(begin) < day; {
			signal := rng.IntN(2)
			f.ratio[signal] = math.Exp(max(-0.2, 0.6*rng.NormFloat64()))
			if rng.IntN(2) == 0 {
				f.ratio[signal] = 1
			}
			tell("TTFT ×%.2f, TPOT ×%.2f", f.ratio[0], f.ratio[1])
			var since [signalCount]int
			last := f.reading()
			for range 10 + rng.IntN(400) {
				switch rng.IntN(300) {
				case 0:
					f.restart(time.Duration(rng.IntN(50)) * time.Minute)
					tell("restart")
				case 1:
					f.Accept("a", "", time.Time{})
					tell("accept")
				}
				r := f.run(time.Minute).reading()
				for i := range since {
					v := r.Signals[i]
					if pages(v) != pages(last.Signals[i]) {
						tell("signal %d: page %v: %+v", i, pages(v), v.Decision)
					}
					if pages(v) && !pages(last.Signals[i]) {
						since[i]++
					}
				}
				last = r
				if max(since[0], since[1]) > 1 {
					t.Errorf("seed %d, a turn every %v, wander %v: an unchanged level pages twice\n%s", seed, every, f.wander, story.String())
					since = [2]int{}
				}
			}
		}
	}
}
