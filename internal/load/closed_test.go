package load

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

func result(turn int, missing bool) probe.Result {
	return probe.Result{Asked: probe.Asked{Turn: turn}, Tokens: probe.Tokens{UsageMissing: missing}}
}

func closed(concurrency int) func(*probe.Job) {
	return func(j *probe.Job) {
		j.Traffic.Arrival = workload.Arrival{Process: workload.Closed, Concurrency: concurrency}
	}
}

func TestClosedLoopKeepsItsConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{turn: 700 * time.Millisecond}, 0, job("a", closed(8)))
		time.Sleep(time.Second) // the ramp takes 8 × 100 ms
		for range 50 {
			time.Sleep(997 * time.Millisecond)
			synctest.Wait()
			b.book.read(func(k *book) {
				if k.inFlight != 8 || k.maxInFlight != 8 {
					t.Fatalf("%d in flight, at most %d, want 8", k.inFlight, k.maxInFlight)
				}
			})
		}
		b.stop()
	})
}

func TestClosedLoopRampsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{turn: time.Hour}, 0, job("a", closed(1000)))
		for second := 1; second <= 10; second++ {
			time.Sleep(time.Second)
			synctest.Wait()
			b.book.read(func(k *book) {
				if want := 100 * second; k.inFlight < want-2 || k.inFlight > want+2 {
					t.Errorf("after %d s %d are in flight, want about %d", second, k.inFlight, want)
				}
			})
		}
		b.stop()
	})
}

func TestClosedLoopDoesNotHammerADeadTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deployment{outcome: probe.ConnectError}
		b := run(t, d, 0, job("a", closed(4)))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		var dead int
		b.book.read(func(k *book) { dead = k.started })
		// Each slot makes some quick attempts, then one every 2.5 to 5 s.
		if dead < 4*600/5 || dead > 4*(600/2.5+10) {
			t.Errorf("%d conversations with a dead target in 10 minutes", dead)
		}
		d.set(func(d *deployment) { d.outcome, d.turn = probe.Success, 100*time.Millisecond })
		time.Sleep(10 * time.Second) // the longest pause
		synctest.Wait()
		b.book.read(func(k *book) { dead = k.started })
		time.Sleep(10 * time.Second)
		b.stop()
		if back := b.book.started - dead; back < 390 || back > 410 {
			t.Errorf("%d conversations in 10 s once the target is back, want 4 × 100", back)
		}
	})
}

func TestAClosedLoopForgivesAfterASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deployment{outcome: probe.HTTP5xx}
		b := run(t, d, 0, job("a", closed(1)))
		time.Sleep(time.Minute) // the pauses reach their maximum
		d.set(func(d *deployment) { d.outcome, d.turn = probe.Success, 100*time.Millisecond })
		time.Sleep(slotPauseMax + time.Second)
		d.set(func(d *deployment) { d.outcome, d.turn = probe.HTTP5xx, 0 })
		before := len(d.seen())
		time.Sleep(2 * time.Second)
		b.stop()
		if again := len(d.seen()) - before; again < 4 {
			t.Errorf("%d tries in the 2 seconds after a relapse, want the short pauses again", again)
		}
	})
}

func TestReplicasDoNotRampInStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := map[time.Duration]bool{}
		for _, name := range []string{"a", "b", "c", "d"} {
			began := time.Now()
			b := run(t, &deployment{turn: time.Minute}, 0, job(name, closed(1)))
			time.Sleep(rampStep)
			b.stop()
			first[b.d.seen()[0].Scheduled.Sub(began)] = true
		}
		if len(first) != 4 {
			t.Errorf("first starts after %v", first)
		}
	})
}

func TestClosedLoopHasABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deployment{turn: 10 * time.Millisecond, prompt: func(workload.Conversation) int { return 1000 }}
		b := run(t, d, 0, job("a", closed(2), func(j *probe.Job) { j.Traffic.Budget = workload.TokenBudget{Tokens: 60_000, Per: time.Minute} }))
		time.Sleep(10 * time.Minute)
		b.stop()
		if n := b.book.started; n < 600 || n > 662 {
			t.Errorf("%d conversations on a budget for 660", n)
		}
		if n := b.book.skips[probe.SkipBudget]; n == 0 || n > 2*600*3 {
			t.Errorf("%d starts were refused", n)
		}
	})
}

func TestBackoff(t *testing.T) {
	b := newBackoff(1, time.Second, 10*time.Second)
	for _, want := range []time.Duration{1, 2, 4, 8, 10, 10} {
		want *= time.Second
		if got := b.next(); got < want/2 || got > want {
			t.Errorf("a pause of %s, want %s … %s", got, want/2, want)
		}
	}
	b.wait = 0
	if got := b.next(); got > time.Second {
		t.Errorf("a pause of %s after a reset", got)
	}
}

// TestStartRate checks that slots open one after the other and then run without pauses. With 50
// ms conversations, 21 slots are open after two seconds, and they start 420 conversations a
// second.
func TestStartRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		loop := Loop{Arrival: workload.Arrival{Process: workload.Closed, Concurrency: 21}, StartRate: 10}
		ctx, stop := context.WithTimeout(t.Context(), 4*time.Second-time.Millisecond)
		defer stop()
		holding, late := 0, 0
		loop.Next = func(due time.Time) (func() probe.Outcome, string) {
			if due.Sub(begin) >= 3*time.Second {
				late++
			}
			holding++
			if most := int(due.Sub(begin)/(100*time.Millisecond)) + 1; holding > most {
				t.Errorf("%d in flight after %s, want at most %d: 10/s", holding, due.Sub(begin), most)
			}
			return func() probe.Outcome {
				time.Sleep(50 * time.Millisecond)
				loop.state.mu.Lock() // Loop holds mu while it calls Next
				defer loop.state.mu.Unlock()
				holding--
				return probe.Success
			}, ""
		}
		loop.Run(ctx)
		if late != 21*20 {
			t.Errorf("%d starts in the second after the ramp, want 420", late)
		}
	})
}
