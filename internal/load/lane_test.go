package load

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// TestLanes checks that turns of lanes side by side have deadlines of their own, and that their tokens add up.
func TestLanes(t *testing.T) {
	r := &runner{
		Options: Options{Sink: newBook()}, job: job("a", func(j *probe.Job) { j.Workload.Timeouts.Total = time.Minute }),
		watchdog: watchdog{deadlines: map[*deadline]bool{}}, ages: workload.NewAges(workload.Timeouts{}),
	}
	c := &conversation{runner: r, cost: new(atomic.Int64)}
	deadlines := func() int {
		r.watchdog.mu.Lock()
		defer r.watchdog.mu.Unlock()
		return len(r.watchdog.deadlines)
	}
	const lanes = 3
	var started, all sync.WaitGroup
	started.Add(lanes)
	end := make(chan struct{})
	for n := range lanes {
		sink := probe.Sink(c)
		if n > 0 {
			sink = c.Lane()
		}
		all.Go(func() {
			sink.Observe(probe.Start{Target: "a"})
			started.Done()
			<-end
			sink.Observe(probe.Result{Target: "a", Turn: 2, PromptTokens: probe.Some(10), OutputTokens: probe.Some(n)})
		})
	}
	started.Wait()
	if n := deadlines(); n != lanes {
		t.Errorf("%d deadlines, want one for each lane", n)
	}
	close(end)
	all.Wait()
	if n := deadlines(); n != 0 || c.cost.Load() != 33 {
		t.Errorf("%d deadlines are left, and the cost is %d, want 33", n, c.cost.Load())
	}
}
