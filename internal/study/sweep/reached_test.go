package sweep

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/load"
	"synthetic/internal/probe/workload"
	"synthetic/internal/study/report"
	"synthetic/internal/study/runs"
)

// answersIn is the duration of an answer of the server.
const answersIn = 100 * time.Millisecond

// twoTokens is a server of two tokens, each of which takes half of answersIn.
func twoTokens() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
	})
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 2 {
			time.Sleep(answersIn / 2)
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"so \"}}]}\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n")
	})
	return mux
}

// brief is a plan of single turns, with two seconds for each level.
func brief() fleet.Plan {
	p := small()
	p.Variants[0].Metrics = nil
	p.Workload.TurnsMin, p.Workload.TurnsMax = 1, 1
	p.Cache.Policy = fleet.BustCache // no warm-up of the variant
	p.WarmUp, p.Measure = fleet.WarmUp{Duration: 500 * time.Millisecond}, fleet.Measure{Snapshots: 1, Snapshot: 2 * time.Second}
	return p
}

// measured sweeps such a server in virtual time.
func measured(t *testing.T, p fleet.Plan) (run *runs.Run, s *report.Study) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", twoTokens())()
		var err error
		if run, err = Run(t.Context(), Options{Plan: p, Dir: dir, Dial: net.Dial}); err != nil {
			t.Fatal(err)
		}
	})
	return run, report.FromRun(run)
}

// This test measures single turns of 100 ms at two levels. The start rate needs ten times the warm-up to reach the
// higher level. So that level has no verdict, capacity or knee, and the report marks it with cause and remedy.
func TestWhatWasNotLoadedIsNotProven(t *testing.T) {
	p := brief()
	p.Levels, p.StartRate = []float64{4, 200}, 20
	p.SLOs = p.SLOs[1:]
	p.SLOs[0].Objective = 0.9 // 30 good turns prove it
	run, s := measured(t, p)
	high := run.Results[1]
	if v := high.Verdict; v == nil || v.Met || v.Standing != runs.NotJudged {
		t.Errorf("the level that was not loaded: %+v", v)
	}
	if v := run.Results[0].Verdict; v.Standing != runs.Met {
		t.Errorf("the level that was loaded: %+v", v)
	}
	if l := s.Series[0].Levels[0]; l.NotReached != "" {
		t.Errorf("the level that was loaded: %s", l.NotReached)
	}
	files, err := report.Files(s)
	if err != nil {
		t.Fatal(err)
	}
	text := string(files[0].Data)
	for _, want := range []string{
		"the level was not reached: ", "raise start_rate, or warm up longer", "| 200 † | NOT JUDGED (not reached) |", "up to concurrency 4.",
		"does not saturate up to concurrency 4.",
		"beyond chance: at least concurrency 4 (concurrency 200 not judged).",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, file := range files {
		if strings.HasSuffix(file.Name, ".svg") && !strings.Contains(string(file.Data), "not reached") {
			t.Errorf("%s does not mark the level", file.Name)
		}
	}
	for _, section := range strings.Split(text, "\n#") {
		for _, line := range strings.Split(section, "\n") {
			if strings.HasPrefix(line, "| 200 |") && !strings.Contains(line, "†") {
				t.Errorf("%s: no mark in %s", strings.SplitN(section, "\n", 2)[0], line)
			}
		}
	}
}

// TestRestartsAreNotHeldBack: a level of single turns stays full once it is reached, although
// turns start more often than the start rate allows.
func TestRestartsAreNotHeldBack(t *testing.T) {
	p := brief()
	p.Levels, p.StartRate, p.WarmUp.Duration = []float64{20}, 20, 1500*time.Millisecond
	run, s := measured(t, p)
	if l := s.Series[0].Levels[0]; l.NotReached != "" {
		t.Errorf("20 at 20/s after a warm-up of 1.5 s: %s", l.NotReached)
	}
	if n := run.Results[0].Snapshots[0].ConversationStarts; n != 400 {
		t.Errorf("%d conversations of 100 ms started in 2 s in 20 places, which the start rate would make 40", n)
	}
}

// TestSkippedStartsReachNoRate caps the conversations of an open loop below the need of its rate.
func TestSkippedStartsReachNoRate(t *testing.T) {
	p := brief()
	p.OpenLoop, p.Levels, p.MaxConcurrency = true, []float64{5, 100}, 3
	p.Arrival = workload.Arrival{Process: workload.Constant}
	_, s := measured(t, p)
	levels := s.Series[0].Levels
	if levels[0].NotReached != "" || !strings.Contains(levels[1].NotReached, "raise it to see the queue") {
		t.Errorf("5/s: %q, 100/s: %q", levels[0].NotReached, levels[1].NotReached)
	}
	if got := report.Judge(s.Objectives, levels[1]).Measured(nil); got != "NOT JUDGED (not reached)" {
		t.Errorf("judged %s", got)
	}
}

// TestLateAtTheEnd stops a process from 8 s to 10.5 s of a level of 10 s. Of the accumulated starts it makes those of
// the last second, unless it was stopped before. The others count as due, and not as skipped for a cap.
func TestLateAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		stop       time.Duration
		asked, due int
	}{{time.Minute, 17, 20}, {9 * time.Second, 16, 17}} {
		synctest.Test(t, func(t *testing.T) {
			var net network
			server := &listener{Handler: twoTokens()}
			defer net.serve(t, "a", server)()
			s := &sweep{Options: Options{Plan: brief(), Dial: net.Dial, Logger: slog.New(slog.DiscardHandler)}, run: &runs.Run{}}
			l, done, err := s.level(cell{})
			if err != nil {
				t.Fatal(err)
			}
			defer done()
			hard, cut := context.WithTimeout(t.Context(), c.stop)
			defer cut()
			begin, times := time.Now(), 0
			l.sink.begin(begin, 1, 10*time.Second)
			over, halt := l.start(hard, &load.Loop{
				Arrival: workload.Arrival{Process: workload.Constant, Rate: 2}, Begin: begin, End: begin.Add(10 * time.Second),
				Decide: func(time.Time) workload.Start {
					if times++; times == 17 {
						time.Sleep(2500 * time.Millisecond)
					}
					return workload.Start{Due: true}
				},
			})
			time.Sleep(10 * time.Second)
			l.sink.finish(time.Now())
			halt()
			<-over
			seen, _ := l.sink.snapshots()
			if n := len(server.at); n != c.asked || seen[0].ConversationsDue != uint64(c.due) || seen[0].ConversationSkips != 0 {
				t.Errorf("stopped after %s: %d asked, %d due, %d skipped", c.stop, n, seen[0].ConversationsDue, seen[0].ConversationSkips)
			}
		})
	}
}
