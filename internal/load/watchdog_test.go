package load

import (
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
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
