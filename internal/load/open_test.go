package load

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

func TestOpenLoopKeepsItsRate(t *testing.T) {
	tests := map[string]struct {
		arrival  workload.Arrival
		min, max int // starts in a minute
	}{
		"constant": {workload.Arrival{Process: workload.Constant, Rate: 10}, 599, 601},
		"poisson":  {workload.Arrival{Process: workload.Poisson, Rate: 50}, 2850, 3150},
		"gamma":    {workload.Arrival{Process: workload.Gamma, Rate: 50, Burstiness: 2}, 2850, 3150},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// Turns take far longer than the time between starts.
				b := run(t, &deployment{turn: 20 * time.Second}, 0, job("a", func(j *probe.Job) { j.Traffic.Arrival = tt.arrival }))
				time.Sleep(time.Minute)
				b.stop()
				if n := b.book.started; n < tt.min || n > tt.max {
					t.Errorf("%d starts in a minute, want %d … %d", n, tt.min, tt.max)
				}
				if len(b.book.skips) != 0 {
					t.Errorf("skipped %v", b.book.skips)
				}
			})
		})
	}
}

func TestTheFirstTurnIsScheduledAtItsArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		b := run(t, &deployment{turn: time.Second}, 0, job("a"))
		time.Sleep(10 * time.Second)
		b.stop()
		plans := b.d.seen()
		for i, p := range plans {
			want := plans[0].Scheduled.Add(time.Duration(i) * 100 * time.Millisecond)
			if off := p.Scheduled.Sub(want).Abs(); off > time.Microsecond {
				t.Fatalf("start %d is scheduled %s off", i, off)
			}
		}
		if first := plans[0].Scheduled.Sub(began); first < 0 || first > 100*time.Millisecond {
			t.Errorf("the first start is due after %s, want it within the first interval", first)
		}
	})
}

// TestBurstFollowsASign checks that a sign changes the rate at the next start, and that the
// change is reported.
func TestBurstFollowsASign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen atomic.Pointer[workload.Sign]
		seen.Store(&workload.Sign{})
		b := runWith(t, &deployment{turn: time.Second}, 0, func(o *Options) {
			o.Sign = func(probe.Key) workload.Sign { return *seen.Load() }
		}, job("a", func(j *probe.Job) {
			j.Traffic.Rate = 1. / 30
			j.Traffic.BurstRate = 0.2
		}))
		time.Sleep(10 * time.Minute)
		calm := len(b.d.seen())
		seen.Store(&workload.Sign{Score: 0.8})
		time.Sleep(4 * time.Minute) // less than the pause between two bursts
		b.stop()
		extra := 0
		for _, p := range b.d.seen() {
			if p.Burst {
				extra++
			}
		}
		if calm < 19 || calm > 21 || extra < 19 || extra > 21 || len(b.book.skips) > 0 {
			t.Errorf("%d starts in ten calm minutes, %d more in a burst of two, skipped %v; want 20 and 20", calm, extra, b.book.skips)
		}
		if want := []probe.Paced{{Target: "a", Workload: "chat", Rate: 1. / 30}, {Target: "a", Workload: "chat", Rate: 0.2, Why: "slower"}, {Target: "a", Workload: "chat", Rate: 1. / 30}}; !slices.Equal(b.book.paced, want) {
			t.Errorf("told %v, want %v", b.book.paced, want)
		}
	})
}

// TestBurstWhileATurnHangs checks that a burst begins before the first turn of a hang has failed.
func TestBurstWhileATurnHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deployment{turn: time.Second}
		b := runWith(t, d, 0, func(*Options) {}, job("a", func(j *probe.Job) {
			j.Traffic.Rate, j.Traffic.BurstRate, j.Workload.Timeouts.FirstToken = 1./30, 0.2, 30*time.Second
		}))
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if len(b.book.paced) != 1 {
			t.Errorf("a burst without a fault: %v", b.book.paced)
		}
		d.set(func(d *deployment) { d.turn, d.outcome = 30*time.Second, probe.TimeoutFirstToken })
		time.Sleep(50 * time.Second) // at most 30 s to the next turn, 10 s until it is overdue, and 5 s to the next start
		b.stop()
		if want := (probe.Paced{Target: "a", Workload: "chat", Rate: 0.2, Why: "overdue"}); len(b.book.paced) < 2 || b.book.paced[1] != want {
			t.Errorf("told %v, want %v", b.book.paced, want)
		}
	})
}

// TestBurstKeepsTheBaseTraffic checks that a burst leaves enough slots and tokens for
// the base traffic, and that a skipped start of the burst is not reported.
func TestBurstKeepsTheBaseTraffic(t *testing.T) {
	for name, tt := range map[string]struct {
		turn        time.Duration
		slots, most int
	}{"slots": {100 * time.Second, 5, 0}, "tokens": {time.Second, 0, 280}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &deployment{turn: tt.turn, prompt: func(workload.Conversation) int { return 100 }}
				b := runWith(t, d, 0, func(o *Options) {
					o.Sign = func(probe.Key) workload.Sign { return workload.Sign{Score: 0.8} }
				}, job("a", func(j *probe.Job) {
					j.Workload.MaxOutputTokens, j.Traffic.Rate, j.Traffic.MaxConcurrency = 50, 1./30, tt.slots
					j.Traffic.BurstRate = 0.2
					if tt.most > 0 {
						j.Traffic.Budget = workload.TokenBudget{Tokens: tt.most, Per: time.Minute}
					}
				}))
				time.Sleep(10 * time.Minute)
				b.stop()
				calm, extra := 0, 0
				for _, p := range b.d.seen() {
					if p.Burst {
						extra++
					} else {
						calm++
					}
				}
				if calm < 19 || calm > 21 || extra == 0 || extra > 30 || len(b.book.skips) > 0 {
					t.Errorf("%d calm starts, %d extra, skipped %v; want 20, a few and none", calm, extra, b.book.skips)
				}
			})
		})
	}
}

func TestCapSkipsAndNeverDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{turn: 10 * time.Second}, 0, job("a", func(j *probe.Job) { j.Traffic.MaxConcurrency = 5 }))
		time.Sleep(time.Minute)
		b.stop()
		k := b.book
		if k.maxInFlight != 5 {
			t.Errorf("at most %d in flight, want 5", k.maxInFlight)
		}
		if due := k.started + k.skips[probe.SkipMaxConcurrency]; due < 599 || due > 601 || len(k.skips) != 1 {
			t.Errorf("%d started and %v skipped, want 600 together", k.started, k.skips)
		}
		// 5 slots of 10 s each are always in use.
		if k.started < 29 || k.started > 31 {
			t.Errorf("%d started, want about 30", k.started)
		}
		for _, p := range b.d.seen() {
			if p.Scheduled.IsZero() {
				t.Error("a conversation has no scheduled time")
			}
		}
	})
}

func TestBudgetSkips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The answers cost 100 tokens each, less than the estimate.
		d := &deployment{turn: 100 * time.Millisecond, prompt: func(workload.Conversation) int { return 100 }}
		b := run(t, d, 0, job("a", func(j *probe.Job) { j.Traffic.Budget = workload.TokenBudget{Tokens: 6000, Per: time.Minute} }))
		time.Sleep(10 * time.Minute)
		b.stop()
		k := b.book
		if due := k.started + k.skips[probe.SkipBudget]; due < 5999 || due > 6001 || len(k.skips) != 1 {
			t.Errorf("%d started and %v skipped, want 6000 together", k.started, k.skips)
		}
		// A full bucket allows 60 conversations, then 60 a minute.
		if k.started < 640 || k.started > 662 {
			t.Errorf("%d started on a budget for 660", k.started)
		}
		// IDs have no gaps, because skipped conversations are started later.
		for i, p := range d.seen() {
			if p.Conversation.ID != uint64(i) {
				t.Fatalf("conversation %d has ID %d", i, p.Conversation.ID)
			}
		}
	})
}

func TestUnknownUsageCountsAsEstimated(t *testing.T) {
	r := &runner{job: job("a")}
	r.source, _ = workload.NewSource(workload.Spec{PromptTokens: 1000}, 0)
	c := r.source.Next()
	tp := &conversation{runner: r, plan: c}
	for name, tt := range map[string]struct {
		missing  bool
		min, max int
	}{"answered": {true, 990, 1000}, "failed": {false, 0, 0}} {
		if got := tp.tokens(new(result(1, tt.missing))); got < tt.min || got > tt.max {
			t.Errorf("a turn that %s without usage costs %d tokens, want %d … %d", name, got, tt.min, tt.max)
		}
	}
}

func TestNoBurstAfterAHiccup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, pause = 10, 30 * time.Second
		b := run(t, &deployment{turn: 5 * time.Second}, 0, job("a", func(j *probe.Job) { j.Traffic.MaxConcurrency = 20 }))
		hung := false
		b.book.read(func(k *book) {
			k.onSkip = func() { // the 21st start blocks the whole loop
				if !hung {
					hung = true
					time.Sleep(pause)
				}
			}
		})
		time.Sleep(2*time.Second + pause + 500*time.Millisecond)
		before := b.book
		before.read(func(k *book) {
			if k.started < 20+5 || k.started > 20+rate+6 {
				t.Errorf("%d started after the hiccup, want at most the %d of its last second and those due since", k.started-20, rate)
			}
			if late := k.skips[probe.SkipLate]; late < 285 || late > 295 {
				t.Errorf("%d skipped as late, want about 290", late)
			}
		})
		b.stop()
	})
}

func TestReplicasDoNotFireTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := func(replica string) time.Duration {
			s := New(Options{Replica: replica, Sink: newBook(), NewProber: (&deployment{}).newProber})
			r, err := s.prepareRunner(job("a"))
			if err != nil {
				t.Fatal(err)
			}
			r.stopStarts()
			return workload.Phase(time.Now(), 0.1, r.hash)
		}
		var starts []float64
		for _, replica := range []string{"pod-0", "pod-1", "pod-2", "pod-3"} {
			starts = append(starts, first(replica).Seconds())
		}
		for i := range starts {
			for j := range i {
				if math.Abs(starts[i]-starts[j]) < 0.1 {
					t.Errorf("two replicas start within 0.1 s of a 10 s interval: %v", starts)
				}
			}
		}
	})
}

// TestSlotRestartsAfterTheUserLeft checks that a slot restarts at once after a user has left.
func TestSlotRestartsAfterTheUserLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		loop := Loop{Arrival: workload.Arrival{Process: workload.Closed, Concurrency: 1}, Limit: 50}
		loop.Next = func(time.Time) (func() probe.Outcome, string) {
			n++
			return func() probe.Outcome { time.Sleep(10 * time.Millisecond); return probe.UserCanceled }, ""
		}
		begin := time.Now()
		loop.Run(t.Context())
		if took := time.Since(begin); took != 500*time.Millisecond || n != 50 {
			t.Errorf("%d conversations of 10 ms took %s", n, took)
		}
	})
}
