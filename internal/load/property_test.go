package load

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// TestNothingIsLost applies random jobs at random times while the deployment changes its
// behavior. It checks that started = ended + in flight at all times, and that nothing is in
// flight at the end.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { nothingIsLost(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func nothingIsLost(t *testing.T, rng *rand.Rand) {
	outcomes := probe.Outcomes()
	d := &deployment{turn: time.Second, model: answers("m", time.Second)}
	b := run(t, d, time.Duration(rng.IntN(5000))*time.Millisecond, randomJobs(rng)...)
	for range 30 {
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
		turn, outcome := time.Duration(rng.IntN(8000))*time.Millisecond, outcomes[rng.IntN(len(outcomes)-1)]
		if rng.IntN(2) == 0 {
			outcome = probe.Success
		}
		d.set(func(d *deployment) { d.turn, d.outcome = turn, outcome })
		if rng.IntN(3) == 0 {
			b.apply(randomJobs(rng)...)
		}
		b.book.read(func(k *book) {
			if k.started != k.ended+k.inFlight || k.turnsStarted < k.turnsEnded {
				t.Fatalf("started %d, ended %d, in flight %d; turns %d and %d", k.started, k.ended, k.inFlight, k.turnsStarted, k.turnsEnded)
			}
		})
	}
	b.stop()
	if b.book.started == 0 {
		t.Error("nothing was started")
	}
	ended := 0
	for _, n := range b.book.conversations {
		ended += n
	}
	if ended != b.book.started {
		t.Errorf("%d of %d conversations have an outcome", ended, b.book.started)
	}
}

func randomJobs(rng *rand.Rand) []probe.Job {
	var jobs []probe.Job
	for _, name := range []string{"a", "b", "c", "d"}[:1+rng.IntN(4)] {
		j := job(name, func(j *probe.Job) {
			j.Workload.TurnsMax = 1 + rng.IntN(4)
			j.Traffic.Process = []workload.Process{workload.Constant, workload.Poisson, workload.Gamma, workload.Closed}[rng.IntN(4)]
			j.Traffic.Concurrency = 1 + rng.IntN(5)
			j.Traffic.MaxConcurrency = rng.IntN(10)
			j.Traffic.Budget = workload.TokenBudget{Tokens: rng.IntN(2) * 20_000, Per: time.Minute}
			if rng.IntN(2) == 0 {
				j.Target.Model = ""
			}
		})
		jobs = append(jobs, j)
	}
	return jobs
}
