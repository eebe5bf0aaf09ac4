package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/study/runfile"
)

// answering returns one worker that is free, answers requests for its time, and other requests with
// answer.
func answering(answer func(*http.Request) (*http.Response, error)) *Workers {
	return NewWorkers([]string{"http://w1"}, secret, roundTrip(func(r *http.Request) (*http.Response, error) {
		switch r.URL.Path {
		case pathHold:
			return response(http.StatusNoContent, ""), nil
		case pathClock:
			return response(http.StatusOK, fmt.Sprintf("%q", time.Now().Format(time.RFC3339Nano))), nil
		}
		return answer(r)
	}))
}

func response(code int, body string) *http.Response {
	answer := httptest.NewRecorder()
	answer.WriteHeader(code)
	_, _ = answer.WriteString(body)
	return answer.Result()
}

// TestChecksAreRetried: a network fault, a fault of a proxy, and a worker that reads its plan for
// longer than one attempt may take, refuse no plan.
func TestChecksAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempt := 0
		w := answering(func(r *http.Request) (*http.Response, error) {
			switch attempt++; attempt {
			case 1:
				return nil, errors.New("connection reset")
			case 2:
				return response(http.StatusBadGateway, "no upstream"), nil
			case 3:
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return response(http.StatusNoContent, ""), nil
		})
		if err := w.join(t.Context(), order{}, 5*time.Minute); err != nil || attempt != 4 {
			t.Errorf("%v after %d attempts", err, attempt)
		}
		hanging := answering(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		began := time.Now()
		if err := hanging.join(t.Context(), order{}, 30*time.Second); !errors.Is(err, ErrNoWorkers) || time.Since(began) > 31*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// TestRefusalBetweenLevels: a worker that refuses after the sweep began is left out with a warning. If
// it refused a level, it is not asked again.
func TestRefusalBetweenLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		w := answering(func(*http.Request) (*http.Response, error) {
			asked++
			return response(http.StatusConflict, "its files differ"), nil
		})
		leading, x := &leader{Workers: w}, w.all[0]
		left, err := leading.rejoin(t.Context(), nil, order{})
		if err != nil || len(left) != 1 || left[0].Why != "its files differ" || !x.away || x.refused {
			t.Errorf("%v, left %+v, worker %+v", err, left, x)
		}
		x.away, asked = false, 0
		w.carry(t.Context(), x, order{})
		if left, err := leading.rejoin(t.Context(), nil, order{}); err != nil || left != nil || !x.away || asked != 1 {
			t.Errorf("%v, left %+v after a refused level, asked %d times", err, left, asked)
		}
	})
}

// TestCutAnswers: an answer with fewer or more turns than the worker has, or a line without an end, is
// not complete.
func TestCutAnswers(t *testing.T) {
	for turns, want := range map[string]string{"12345678": "", "1234567": "7 bytes arrived, want 8", "123456789": "9 bytes arrived, want 8"} {
		w := answering(func(*http.Request) (*http.Response, error) {
			return response(http.StatusOK, `{"result":{},"turn_bytes":8}`+"\n"+turns), nil
		})
		x := w.all[0]
		x.turns = filepath.Join(t.TempDir(), "turns")
		w.carry(t.Context(), x, order{})
		if x.done != (want == "") || !strings.Contains(x.lost, want) {
			t.Errorf("%s: done %t, lost %q, want %q", turns, x.done, x.lost, want)
		}
	}
	long := &answerReader{Reader: strings.NewReader(`{"lost":"` + strings.Repeat("x", 100)), seen: func() {}, left: 64}
	if err := json.NewDecoder(long).Decode(&answer{}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a line without an end: %v", err)
	}
}

// TestPlanIsReadOnce: a worker reads a plan once for all levels of a sweep, and again if the workload
// of shard 0 changed.
func TestPlanIsReadOnce(t *testing.T) {
	w, read := newWorker(), 0
	w.Parse = func(string, []byte) (Plan, error) { read++; return small(), nil }
	for i, workload := range []string{small().digest(), small().digest(), "another", small().digest()} {
		o := order{Protocol: protocolVersion, Workload: workload, Levels: small().Levels}
		if _, err := w.plan(o); (err != nil) != (workload == "another") {
			t.Errorf("order %d: %v", i, err)
		}
	}
	if read != 2 {
		t.Errorf("the plan was read %d times", read)
	}
}

// TestWorkerChecksOrders: a worker refuses levels outside the plan, and parts that no worker carries.
func TestWorkerChecksOrders(t *testing.T) {
	for change, want := range map[string]string{
		`"levels":[1e12]`: "level 1e+12 is not between",
		`"levels":[-5]`:   "level -5 is not between",
		`"levels":[]`:     "is not in the plan",
		`"levels":[2],"part":{"Index":9,"Count":2}`:  "part 9 of 2",
		`"levels":[2],"part":{"Index":-3,"Count":2}`: "part -3 of 2",
		`"levels":[2],"part":{"Index":0,"Count":2}`:  "part 0 of 2",
		`"levels":[2]`: "part 0 of 0",
		`"levels":[2],"level":{"variant":0,"Level":100}`: "level 100 of variant 0",
	} {
		body := fmt.Sprintf(`{"protocol":%d,"workload_sha256":%q,%s}`, protocolVersion, small().digest(), change)
		answer := httptest.NewRecorder()
		newWorker().ServeHTTP(answer, authorize(httptest.NewRequest(http.MethodPost, pathLevel, strings.NewReader(body))))
		if answer.Code != http.StatusConflict || !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s: %d %s, want %q", change, answer.Code, answer.Body, want)
		}
	}
}

// deadlineWriter records the write deadlines of a response.
type deadlineWriter struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (w *deadlineWriter) SetWriteDeadline(at time.Time) error {
	w.deadlines = append(w.deadlines, at)
	return nil
}

// TestEachWriteHasADeadline: each write of a worker has silenceLimit, however long the level takes.
func TestEachWriteHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &deadlineWriter{ResponseRecorder: httptest.NewRecorder()}
		w := timedWriter{to, http.NewResponseController(to)}
		for i := range 2 {
			if _, err := w.Write([]byte("x")); err != nil || len(to.deadlines) != i+1 || to.deadlines[i] != time.Now().Add(silenceLimit) {
				t.Errorf("%v, deadlines %v", err, to.deadlines)
			}
			time.Sleep(time.Hour)
		}
	})
}

// TestSkew: only beginnings are compared if the number of conversations is counted.
func TestSkew(t *testing.T) {
	part := func(from, seconds float64) runfile.Result {
		s := runfile.Snapshot{Seconds: seconds}
		s.Started = time.Unix(1000, 0).Add(time.Duration(from * float64(time.Second)))
		return runfile.Result{Snapshots: []runfile.Snapshot{s}}
	}
	for _, c := range []struct {
		other   runfile.Result
		counted bool
		want    string
	}{
		{part(0.1, 100), false, ""},
		{part(0, 60), false, "a process ended early"},
		{part(0, 60), true, ""},
		{part(30, 100), false, "a clock was set"},
		{part(30, 60), true, "a clock was set"},
	} {
		if got := describeSkew([]runfile.Result{part(0, 100), c.other}, c.counted); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

// TestDirectoryBeforeWorkers: a directory that cannot be used, and a finished sweep or search, need no
// workers.
func TestDirectoryBeforeWorkers(t *testing.T) {
	for _, search := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, stop := newSite(t, quick(), 1, shortLevels())
			defer stop()
			want, o, err := s.run(t, func(o *Options) { o.FindCapacity = search })
			if err != nil {
				t.Fatal(err)
			}
			s.stop(0)
			began := time.Now()
			if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "use --resume") {
				t.Errorf("a used directory: %v", err)
			}
			o.Resume = true
			if run, err := Run(t.Context(), o); err != nil || len(run.Results) != len(want.Results) || time.Since(began) > time.Second {
				t.Errorf("search %t: a finished sweep: %v after %s", search, err, time.Since(began))
			}
			if err := os.Remove(filepath.Join(o.Dir, "levels", "a-c4-r1.json")); err != nil {
				t.Fatal(err)
			}
			if _, err := Run(t.Context(), o); !errors.Is(err, ErrNoWorkers) {
				t.Errorf("search %t: a sweep that lacks a level: %v", search, err)
			}
		})
	}
}

// TestTwoSweepsOneWorker: a worker serves no second sweep while the first one runs, and serves it
// afterwards, at once if the first sweep says that it is over. A request that names no sweep, or that no
// worker knows, takes no worker.
func TestTwoSweepsOneWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker()
		expect := func(sweep, request string, want int, says string) {
			t.Helper()
			method, path, _ := strings.Cut(request, " ")
			r, answer := authorize(httptest.NewRequest(method, path, nil)), httptest.NewRecorder()
			r.Header.Set(sweepHeader, sweep)
			w.ServeHTTP(answer, r)
			if answer.Code != want || !strings.Contains(answer.Body.String(), says) {
				t.Errorf("%s of %q: %d %s, want %d %s", request, sweep, answer.Code, answer.Body, want, says)
			}
		}
		const clock, leave, busy = "GET " + pathClock, "POST " + pathLeave, "of 192.0.2.1 since 2000-01-01 00:00:00 UTC"
		expect("", clock, http.StatusBadRequest, "the same synthetic")
		expect("c", "GET /other", http.StatusNotFound, "")
		expect("c", "GET "+pathHold, http.StatusNotFound, "")
		expect("a", clock, http.StatusOK, "")
		expect("b", clock, http.StatusLocked, busy)
		expect("b", leave, http.StatusLocked, busy)
		time.Sleep(heldFor - time.Second)
		expect("b", clock, http.StatusLocked, busy)
		expect("a", clock, http.StatusOK, "")
		time.Sleep(heldFor - time.Second)
		expect("b", clock, http.StatusLocked, busy)
		time.Sleep(time.Second)
		expect("b", clock, http.StatusOK, "")
		expect("a", clock, http.StatusLocked, "")
		expect("b", leave, http.StatusNoContent, "")
		expect("a", clock, http.StatusOK, "")
	})
}

// TestSecondSweepIsRefused: a sweep whose worker belongs to another one, also between two distant levels,
// ends at once, and frees the worker that it got. The worker that restarted goes back to the first sweep.
func TestSecondSweepIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := shortLevels()
		p.Levels, p.Pause = []float64{2, 3}, 2*heldFor
		s, stop := newSite(t, quick(), 2, p)
		defer stop()
		var first *runfile.Run
		var firstErr error
		var running sync.WaitGroup
		running.Go(func() { first, _, firstErr = s.run(t) })
		second := func() {
			t.Helper()
			began := time.Now()
			run, _, err := s.run(t)
			if run != nil || !errors.Is(err, ErrBusy) || time.Since(began) > time.Second || !strings.Contains(err.Error(), "it is busy with another sweep, of ") {
				t.Errorf("%v after %s", err, time.Since(began))
			}
		}
		time.Sleep(heldFor + 40*time.Second) // between its levels
		second()
		s.stop(0)
		s.start(0)
		second() // it gets w1 and not w2
		time.Sleep(2 * holdEvery)
		second()
		if running.Wait(); firstErr != nil {
			t.Fatal(firstErr)
		}
		for _, r := range first.Results {
			if len(r.Workers) != 2 || r.LostWorkers != nil {
				t.Errorf("the first sweep, level %g: workers %v, lost %v", r.Level, r.Workers, r.LostWorkers)
			}
		}
		if _, _, err := s.run(t); err != nil {
			t.Errorf("a sweep after the first one: %v", err)
		}
	})
}

// TestTwoSweepsAtOnce: of two sweeps that begin together, one runs with all workers, also if they reach the workers in
// different orders, or under different names.
func TestTwoSweepsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := newSite(t, quick(), 3, shortLevels())
		defer stop()
		var runs [2]*runfile.Run
		var errs [2]error
		var running sync.WaitGroup
		for i := range runs {
			running.Go(func() {
				runs[i], _, errs[i] = s.run(t, func(o *Options) {
					transport := o.Workers.client.Transport
					t.Cleanup(transport.(*http.Transport).CloseIdleConnections)
					o.Workers.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
						far := time.Duration(r.URL.Host[1] - '0') // w1, w2, w3
						if i == 1 {
							far = 4 - far
						}
						time.Sleep(far * 10 * time.Millisecond)
						return transport.RoundTrip(r)
					})
					for k, x := range o.Workers.all {
						if i == 1 {
							x.name = fmt.Sprint("alias", 3-k)
						}
					}
				})
			})
		}
		running.Wait()
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		if errs[winner] != nil || !errors.Is(errs[1-winner], ErrBusy) || len(runs[winner].Results) != 2 || len(runs[winner].Results[0].Workers) != 3 {
			t.Errorf("%v", errs)
		}
	})
}

// TestOnlyTheLowerWaits: two sweeps that begin never wait for each other, and one that runs is not waited for.
func TestOnlyTheLowerWaits(t *testing.T) {
	for _, c := range []struct {
		holder, other string
		holderBegins  bool
		otherBegins   bool
		mayWait       bool
	}{
		{"b", "a", true, true, true}, {"a", "b", true, true, false},
		{"b", "a", false, true, false}, {"b", "a", true, false, false},
	} {
		var h holder
		if refusal, _ := h.admit(c.holder, "host1", c.holderBegins); refusal != "" {
			t.Errorf("a free worker refuses: %s", refusal)
		}
		if refusal, mayWait := h.admit(c.other, "host2", c.otherBegins); refusal == "" || mayWait != c.mayWait {
			t.Errorf("%+v: refused %q, may wait %v", c, refusal, mayWait)
		}
		h.leave()
		if refusal, _ := h.admit(c.other, "host2", c.otherBegins); refusal != "" {
			t.Errorf("a worker that its sweep left refuses: %s", refusal)
		}
	}
}

// TestRejoinTellsOfAnotherSweep: the log says that a worker that was lost belongs to another sweep, once.
func TestRejoinTellsOfAnotherSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := answering(func(*http.Request) (*http.Response, error) {
			return response(http.StatusLocked, "of host9 since 10:00"), nil
		})
		var log strings.Builder
		w.Logger = slog.New(slog.NewTextHandler(&log, nil))
		w.all[0].away = true
		for range 2 {
			if left, err := (&leader{Workers: w}).rejoin(t.Context(), nil, order{}); err != nil || left != nil {
				t.Errorf("%v, left %+v", err, left)
			}
		}
		if got := log.String(); strings.Count(got, "it is busy with another sweep, of host9 since 10:00") != 1 {
			t.Errorf("the log is %s", got)
		}
	})
}
