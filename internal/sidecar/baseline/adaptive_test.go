package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
)

// healthyDays plays days of a healthy deployment whose level wanders. It returns the job at the
// end, the number of pages and the number of burst turns. The turns of regular starts do not
// depend on burstRate. as changes the result of a burst turn before the job observes it.
func healthyDays(seed uint64, days int, burstRate float64, as func(*probe.Result)) (j *job, pages, extra int, now time.Time) {
	rng := rand.New(rand.NewPCG(seed, 7))
	policy := sink.DefaultPolicy()
	policy.FalsePages = 60 // enough to be counted
	j = testJob(options{Policy: policy})
	pace := workload.NewPace(workload.Traffic{
		Arrival:   workload.Arrival{Rate: 2. / 60},
		BurstRate: burstRate,
	})
	now = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	level, paged := 0.0, false
	for range days * 24 * 720 {
		now = now.Add(5 * time.Second)
		level += -level/360 + 0.15*math.Sqrt(2./360)*rng.NormFloat64() // forgets within half an hour
		ttft := time.Duration(0.3 * math.Exp(level+0.4*rng.NormFloat64()) * float64(time.Second))
		s := pace.Decide(now, workload.Sign{Score: j.score(now)})
		if s.Due {
			r := probe.Result{Kind: probe.First, Outcome: probe.Success, Sent: now, End: now, TTFT: probe.Some(ttft), Burst: s.Burst}
			if s.Burst {
				extra++
			}
			as(&r)
			j.observe(&r, now)
		}
		if up := j.series[0][0].page.Up; up != paged {
			if paged = up; up {
				pages++
			}
		}
	}
	return j, pages, extra, now
}

// TestBurstsBiasNothing checks bursts, which begin when a level is high. The learned values
// must equal those without bursts exactly, and the false pages may differ only by chance. If
// burst turns counted like other turns, the measured level would be too high.
func TestBurstsBiasNothing(t *testing.T) {
	seeds, days := 6, 16
	if testing.Short() {
		seeds = 1
	}
	constant, adaptive := 0, 0
	for seed := range uint64(seeds) {
		plain := func(*probe.Result) {}
		calm, pages, none, at := healthyDays(seed, days, 0.2, func(r *probe.Result) { r.Outcome = outcomeUnless(r.Burst) })
		constant += pages
		wary, pages, extra, _ := healthyDays(seed, days, 0.2, plain)
		adaptive += pages
		naive, _, _, _ := healthyDays(seed, days, 0.2, func(r *probe.Result) { r.Burst = false })
		if none == 0 || extra == 0 {
			t.Fatal("no burst")
		}
		a, b := calm.series[0][0].moments, wary.series[0][0].moments
		if a.Turns != b.Turns || a.Log2 != b.Log2 {
			t.Errorf("seed %d: calm %v turns of %v, with bursts %v of %v", seed, a.Turns, a.Log2, b.Turns, b.Log2)
		}
		if usual, got := calm.views(at)[0][0].Baseline.V, wary.views(at)[0][0].Baseline.V; math.Abs(got/usual-1) > 0.02 {
			t.Errorf("seed %d: the usual is %v with bursts, and %v without", seed, got, usual)
		}
		mean := func(m Moments) float64 { return m.Log2 / m.Turns * math.Ln2 }
		if bias := mean(naive.series[0][0].moments) - mean(a); bias < 0.003 {
			t.Errorf("seed %d: bursts as any other turns raise the mean by %.4f: the test shows nothing", seed, bias)
		}
	}
	if most := float64(constant) + 3*math.Sqrt(float64(constant+adaptive)+1); float64(adaptive) > most {
		t.Errorf("%d pages for nothing with bursts, %d without", adaptive, constant)
	}
	t.Logf("pages for nothing in %d days: %d constant, %d adaptive", seeds*days, constant, adaptive)
}

// outcomeUnless returns Success, or for a burst turn an outcome that no statistic counts.
func outcomeUnless(extra bool) probe.Outcome {
	if extra {
		return probe.Canceled
	}
	return probe.Success
}
