package load

import (
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

const (
	// rampStep and rampMax spread the first starts of a closed loop: its slots
	// open rampStep apart, the last within rampMax.
	rampStep, rampMax = 100 * time.Millisecond, 10 * time.Second
	// atOnce is how soon a failure is too soon: a closed loop that started the
	// next conversation right away would hammer a dead deployment.
	atOnce = time.Second
	// slotPause and slotPauseMax bound the pause of a slot after a failure at
	// once or a refused start. It doubles each time, is drawn from its upper
	// half, and starts over with the first conversation that goes well.
	slotPause, slotPauseMax = 100 * time.Millisecond, 5 * time.Second
)

// openLoop starts conversations at the times of the arrival process, whatever
// became of the earlier ones.
func (r *runner) openLoop() {
	begin := time.Now()
	a := r.job.Traffic.Arrival
	seed := r.hash ^ workload.Hash("arrivals") ^ r.job.Workload.Seed
	starts := workload.NewSchedule(a, seed, workload.Phase(begin, a.Rate, r.hash))
	for {
		due := begin.Add(starts.Next())
		if !r.waitUntil(due) {
			return
		}
		if c, estimate, ok := r.admit(due); ok {
			r.helpers.Go(func() { r.converse(c, estimate, due) })
		}
	}
}

// closedLoop keeps Concurrency conversations in flight, one in each slot.
func (r *runner) closedLoop() {
	n := r.job.Traffic.Concurrency
	ramp := min(time.Duration(n)*rampStep, rampMax)
	fraction := float64(r.hash) / math.MaxUint64 // replicas do not ramp in step
	for i := range n {
		delay := time.Duration((float64(i) + fraction) / float64(n) * float64(ramp))
		pause := newBackoff(r.hash+uint64(i), slotPause, slotPauseMax)
		r.helpers.Go(func() { r.slot(delay, pause) })
	}
	r.await(nil)
}

// slot holds one conversation after the other.
func (r *runner) slot(delay time.Duration, pause *backoff) {
	for r.pause(delay) {
		delay = 0
		due := time.Now()
		c, estimate, ok := r.admit(due)
		if ok && !failedAtOnce(r.converse(c, estimate, due), due) {
			pause.reset()
			continue
		}
		delay = pause.next()
	}
}

// failedAtOnce reports whether a conversation ended badly within atOnce.
func failedAtOnce(c probe.Conversation, began time.Time) bool {
	return c.Outcome != probe.Success && time.Since(began) < atOnce
}

// pause waits and reports whether the runner may still start something.
func (r *runner) pause(d time.Duration) bool {
	return pause(r.soft, d)
}
