package load

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// slow makes starts so rare that only one conversation is in flight.
func slow(j *probe.Job) { j.Traffic.Rate = 0.1 }

func long(j *probe.Job) { j.Workload.TurnsMin, j.Workload.TurnsMax = 3, 3 }

func TestShutdownLetsTurnsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{turn: 3 * time.Second}, time.Minute, job("a", long))
		time.Sleep(10 * time.Second)
		if took := b.stop(); took > 3*time.Second {
			t.Errorf("the shutdown took %s, turns take 3 s", took)
		}
		if len(b.book.outcomes) != 1 || b.book.outcomes[probe.Success] == 0 {
			t.Errorf("turns ended as %v, want only success", b.book.outcomes)
		}
		if b.book.conversations[probe.Canceled] == 0 {
			t.Error("no conversation was cut short between its turns")
		}
		if len(b.removed) != 0 {
			t.Errorf("a shutdown removes the series of %s", <-b.removed)
		}
	})
}

// TestHours: outside of the hours of its traffic, a job starts nothing and skips nothing, with an open and a closed loop.
func TestHours(t *testing.T) {
	for _, change := range []func(*probe.Job){slow, func(j *probe.Job) {
		j.Traffic.Arrival = workload.Arrival{Process: workload.Closed, Concurrency: 1}
	}} {
		synctest.Test(t, func(t *testing.T) { // begins at midnight of a Saturday
			j := job("a", change)
			j.Traffic.Hours.Spans = []workload.Span{{Start: 5*24*time.Hour + 2*time.Hour, Length: time.Hour}}
			b := run(t, &deployment{turn: 5 * time.Second}, time.Minute, j)
			var sent [4]int
			for hour := range sent {
				time.Sleep(time.Hour - time.Minute) // turns in flight end
				sent[hour] = len(b.d.seen())
				time.Sleep(time.Minute)
			}
			b.stop()
			if sent[1] > 0 || sent[2] < 300 || sent[3] > sent[2]+20 || len(b.book.skips) > 0 {
				t.Errorf("conversations after each hour: %v; skipped: %v", sent, b.book.skips)
			}
		})
	}
}

func TestShutdownCutsWhatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{turn: time.Hour}, 5*time.Second, job("a"), job("c", closed(3)))
		time.Sleep(10 * time.Second)
		if took := b.stop(); took != 5*time.Second {
			t.Errorf("the shutdown took %s, want the drain timeout of 5 s", took)
		}
		if n := b.book.outcomes[probe.Canceled]; n != b.book.turnsEnded || n < 100 {
			t.Errorf("%d of %d turns were canceled, want all", n, b.book.turnsEnded)
		}
	})
}

func TestReloadKeepsWhatDidNotChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		extra := func(v int) func(*probe.Job) {
			return func(j *probe.Job) { j.Target.Extra = map[string]any{"priority": v} }
		}
		b := run(t, &deployment{turn: 4 * time.Second}, time.Minute, job("a", long, extra(1)), job("b", long))
		time.Sleep(5 * time.Second)
		b.apply(job("a", long, extra(1)), job("b", long), job("new"))
		if made, closed := b.d.counts(); made != 3 || closed != 0 {
			t.Errorf("%d probers made and %d closed, want only the new one made", made, closed)
		}
		time.Sleep(8 * time.Second)
		synctest.Wait()
		b.book.read(func(k *book) {
			if n := k.conversations[probe.Canceled]; n != 0 {
				t.Errorf("the reload cut %d conversations", n)
			}
			if k.conversations[probe.Success] == 0 {
				t.Error("no conversation ended well")
			}
		})
		b.stop()
	})
}

func TestChangedJobDrainsBesideTheNewOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{turn: 20 * time.Second}, time.Minute, job("a", long))
		time.Sleep(10 * time.Second)
		before := len(b.d.seen())
		b.apply(job("a", long, func(j *probe.Job) { j.Target.Model = "n" }))
		time.Sleep(time.Second)
		synctest.Wait()
		plans := b.d.seen()
		if n := len(plans) - before; n < 9 || n > 11 {
			t.Errorf("%d starts in the second after the change, want 10", n)
		}
		ids := map[string]bool{}
		for i, p := range plans {
			if want := map[bool]string{true: "m", false: "n"}[i < before]; p.Model != want {
				t.Fatalf("conversation %d of %d has the model %q", i, before, p.Model)
			}
			ids[p.ID] = true
		}
		if len(ids) != len(plans) {
			t.Errorf("%d conversations have %d IDs", len(plans), len(ids))
		}
		time.Sleep(20 * time.Second) // the turns in flight at the change end
		synctest.Wait()
		b.book.read(func(k *book) {
			if n := k.conversations[probe.Canceled]; n != before {
				t.Errorf("%d conversations were cut short, want the former %d", n, before)
			}
			if n := k.outcomes[probe.Canceled]; n != 0 {
				t.Errorf("%d turns were cut", n)
			}
		})
		if made, closed := b.d.counts(); made != 2 || closed != 1 {
			t.Errorf("%d probers made and %d closed", made, closed)
		}
		b.stop()
		if len(b.removed) != 0 {
			t.Error("a changed job was reported as removed")
		}
	})
}

func TestRemovedJobIsReportedWhenItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{turn: 20 * time.Second}, time.Minute, job("a", long), job("b", slow))
		time.Sleep(10 * time.Second)
		b.apply(job("b", slow))
		time.Sleep(19 * time.Second)
		synctest.Wait()
		if len(b.removed) != 0 {
			t.Error("reported before its last turn ended")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(b.removed) != 1 || <-b.removed != "a/chat" {
			t.Error("not reported once its last turn ended")
		}
		b.apply(job("b", slow))
		b.stop()
		if len(b.removed) != 0 {
			t.Errorf("%s was reported, too", <-b.removed)
		}
	})
}

func TestJobThatComesBackIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{turn: 20 * time.Second}, time.Minute, job("a"))
		time.Sleep(15 * time.Second)
		b.apply()
		time.Sleep(time.Second)
		b.apply(job("a"))
		time.Sleep(time.Minute)
		if len(b.removed) != 0 {
			t.Error("reported although it is wanted again")
		}
		b.apply() // removed, added and removed: conversations of two runners are in flight
		time.Sleep(time.Second)
		b.apply(job("a"))
		time.Sleep(time.Second)
		b.apply()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(b.removed) != 1 {
			t.Errorf("reported %d times, want once", len(b.removed))
		}
		b.stop()
	})
}

func TestChangedFileIsAChangedJob(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chats.jsonl")
	write := func(text string) {
		line := fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]}`, text)
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("before")
	synctest.Test(t, func(t *testing.T) {
		replay := job("a", func(j *probe.Job) { j.Workload.Trace.File = path })
		b := run(t, &deployment{}, 0, replay)
		time.Sleep(time.Second)
		write("after the change")
		b.apply(replay)
		before := len(b.d.seen())
		time.Sleep(time.Second)
		b.stop()
		for i, p := range b.d.seen() {
			if want := map[bool]string{true: "before", false: "after the change"}[i < before]; p.Conversation.Opening[0].Content != want {
				t.Fatalf("conversation %d says %q, want %q", i, p.Conversation.Opening[0].Content, want)
			}
		}
	})
}

func TestUniqueOpeningsDifferFromThoseOfAFormerProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		openings := map[string]bool{}
		for range 2 {
			b := run(t, &deployment{}, 0, job("a", func(j *probe.Job) { j.Workload.Starters = 0 }))
			time.Sleep(time.Second)
			b.stop()
			for _, p := range b.d.seen() {
				openings[p.Conversation.Opening[0].Content] = true
			}
		}
		if len(openings) < 19 {
			t.Errorf("two processes with 10 conversations each have %d openings", len(openings))
		}
	})
}

func TestFailedApplyChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{turn: time.Second}, time.Minute, job("a", slow))
		time.Sleep(10 * time.Second)
		tests := map[string]struct {
			jobs []probe.Job
			want string
		}{
			"an image of no known type": {
				[]probe.Job{job("new"), job("a", func(j *probe.Job) { j.Workload.Images = []string{"/missing"} })},
				`preparing workload "chat" for target "a": the image "/missing" has an unknown type: name a file that ends with .png, .jpg, .gif or .webp`,
			},
			"twice the same": {
				[]probe.Job{job("new"), job("new")},
				`two jobs send workload "chat" to target "new"; merge them into one`,
			},
		}
		for name, tt := range tests {
			if err := b.Apply(tt.jobs, nil); err == nil || err.Error() != tt.want {
				t.Errorf("%s: got  %v\nwant %s", name, err, tt.want)
			}
			if b.LastBeat(probe.Key{Target: "a", Workload: "chat"}).IsZero() || !b.LastBeat(probe.Key{Target: "new", Workload: "chat"}).IsZero() {
				t.Errorf("%s: the jobs are not what they were", name)
			}
		}
		if made, closed := b.d.counts(); made != 3 || closed != 2 {
			t.Errorf("%d probers made and %d closed, want those of the failed attempts closed", made, closed)
		}
		b.stop()
		if b.book.started < 1 {
			t.Error("nothing was started")
		}
	})
}

func TestProberThatCannotBeMade(t *testing.T) {
	s := New(Options{Sink: newBook(), NewProber: func(probe.Job) (Prober, error) { return nil, errors.New("bad check") }})
	want := `preparing workload "chat" for target "a": bad check`
	if err := s.Apply([]probe.Job{job("a")}, nil); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSchedulerRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{}, 0)
		synctest.Wait()
		if err := b.Run(t.Context()); err == nil {
			t.Error("a second Run is no error")
		}
		b.stop()
		if err := b.Apply([]probe.Job{{Target: target.Target{Name: "a"}}}, nil); err == nil {
			t.Error("Apply after the end is no error")
		}
	})
}

func TestJobsBeforeRunCanBeReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deployment{}
		s := New(Options{Sink: newBook(), NewProber: d.newProber})
		for _, jobs := range [][]probe.Job{{job("a"), job("b")}, {job("b")}, {}} {
			if err := s.Apply(jobs, nil); err != nil {
				t.Fatal(err)
			}
		}
		if made, closed := d.counts(); made != 2 || closed != 2 {
			t.Errorf("%d probers made and %d closed", made, closed)
		}
	})
}
