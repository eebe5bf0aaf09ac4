package load

import (
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

func TestIdleLoopsBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := func(j *probe.Job) { j.Traffic.Rate = 1e-6 }
		b := run(t, &deployment{turn: 20 * time.Second}, 0, job("open", idle),
			job("closed", closed(1), func(j *probe.Job) { j.Workload.TurnsMin, j.Workload.Timeouts.Total = 1000, 30*time.Second }),
			job("asking", nameless))
		b.d.set(func(d *deployment) { d.model = answers("", time.Hour) })
		for range 600 {
			time.Sleep(time.Second)
			synctest.Wait()
			if err := b.Healthy(); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"asking", "closed", "open"} {
				if age := time.Since(b.LastBeat(probe.Key{Target: name, Workload: "chat"})); age > beatEvery {
					t.Fatalf("the last beat of %s is %s old", name, age)
				}
			}
		}
		if last := b.LastBeat(probe.Key{Target: "open", Workload: "other"}); !last.IsZero() {
			t.Errorf("a job that is not wanted gave a sign of life at %s", last)
		}
		b.stop()
	})
}

func TestStuckSinkTurnsHealthRed(t *testing.T) {
	const stuck = `workload "chat" on target "a" is stuck: still waiting for the sink to take `
	tests := map[string]struct {
		job  probe.Job
		hang func(k *book, hook func())
		want string
	}{
		"in the loop": {
			job("a", func(j *probe.Job) { j.Traffic.MaxConcurrency = 1 }),
			func(k *book, hook func()) { k.onSkip = hook },
			stuck + "a skipped conversation",
		},
		"in a conversation": {
			job("a", closed(1)),
			func(k *book, hook func()) { k.onTurn = hook },
			stuck + "a turn's result",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := run(t, &deployment{turn: time.Second}, time.Minute, tt.job, job("other"))
				time.Sleep(10 * time.Second)
				release := make(chan struct{})
				b.book.read(func(k *book) { tt.hang(k, func() { <-release }) })
				b.apply(tt.job) // the other job does not hang with it
				time.Sleep(time.Minute)
				if err := b.Healthy(); err == nil || err.Error() != tt.want {
					t.Errorf("got  %v\nwant %s", err, tt.want)
				}
				if age := time.Since(b.LastBeat(probe.Key{Target: "a", Workload: "chat"})); age < 50*time.Second {
					t.Errorf("it gave a sign of life %s ago", age)
				}
				close(release)
				time.Sleep(2 * beatEvery)
				synctest.Wait()
				if err := b.Healthy(); err != nil {
					t.Errorf("after it came loose: %v", err)
				}
				b.stop()
			})
		})
	}
}

func TestStuckTurnTurnsHealthRed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := make(chan struct{})
		b := run(t, &deployment{deaf: deaf}, time.Minute, job("a", closed(1), func(j *probe.Job) {
			j.Workload.Timeouts = workload.Timeouts{Total: time.Minute}
		}))
		time.Sleep(time.Minute + turnGrace)
		if err := b.Healthy(); err != nil {
			t.Errorf("too early: %v", err)
		}
		time.Sleep(2 * beatEvery)
		want := `workload "chat" on target "a" is stuck: still waiting for the end of a turn past its total timeout`
		if err := b.Healthy(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		b.d.set(func(d *deployment) { d.deaf = nil; d.turn = time.Second })
		close(deaf)
		time.Sleep(2 * beatEvery)
		synctest.Wait()
		if err := b.Healthy(); err != nil {
			t.Errorf("after it came loose: %v", err)
		}
		b.stop()
	})
}

func TestSilentLoopTurnsHealthRed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{}, 0, job("a", slow))
		synctest.Wait()
		r := (*b.wanted.Load())[job("a", slow).Key()]
		if err := r.healthy(time.Now().Add(maxSilence)); err != nil {
			t.Error(err)
		}
		want := `workload "chat" on target "a" is stuck: no heartbeat for 11s`
		if err := r.healthy(time.Now().Add(maxSilence + time.Second)); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		b.stop()
	})
}

func TestHealthNeedsARunningScheduler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Sink: newBook(), NewProber: (&deployment{}).newProber})
		if err := s.Healthy(); err == nil || err.Error() != "the scheduler is not running yet" {
			t.Errorf("before Run: %v", err)
		}
		b := run(t, &deployment{turn: time.Minute}, time.Hour, job("a"))
		time.Sleep(time.Second)
		if err := b.Healthy(); err != nil {
			t.Error(err)
		}
		b.end()
		synctest.Wait()
		if err := b.Healthy(); err == nil || err.Error() != "the scheduler is shutting down" {
			t.Errorf("while draining: %v", err)
		}
		b.stop()
	})
}
