package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/atomicfile"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
	"synthetic/internal/study/runs"
)

// outcomes adds up the outcomes of a result's snapshots.
func outcomes(r runs.Result) map[probe.Outcome]uint64 {
	sum := map[probe.Outcome]uint64{}
	for _, b := range r.Blocks() {
		for o, n := range b.Outcomes {
			sum[o] += n
		}
	}
	return sum
}

// TestTargetDies stops the deployment during the first level and restarts it: that level ends
// with its errors counted, and the next begins after a successful turn.
func TestTargetDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		stop := net.serve(t, "a", simulate.New(quick()))
		go func() {
			time.Sleep(40 * time.Second)
			stop()
			time.Sleep(40 * time.Second)
			stop = net.serve(t, "a", simulate.New(quick()))
		}()
		run, err := Run(t.Context(), Options{Plan: small(), Dir: t.TempDir(), Dial: net.Dial})
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		first, second := run.Results[0], run.Results[1]
		if first.State != runs.EndedEarly || !strings.HasPrefix(first.Why, "no turn succeeds any more") || first.Verdict.Met {
			t.Errorf("first level: %s (%s), verdict %+v", first.State, first.Why, first.Verdict)
		}
		if n := outcomes(first); n[probe.ConnectError] < lostTurns-5 || n[probe.Success] < 100 {
			t.Errorf("first level counted %v", n)
		}
		if second.State != runs.Complete || !second.Verdict.Met || outcomes(second)[probe.ConnectError] != 0 {
			t.Errorf("second level: %s (%s), %v", second.State, second.Why, outcomes(second))
		}
	})
}

// TestLostInTheLastLevel: a sweep is incomplete if its target is lost in the last level.
func TestLostInTheLastLevel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		stop := net.serve(t, "a", simulate.New(quick()))
		go func() {
			time.Sleep(110 * time.Second)
			stop()
		}()
		run, err := Run(t.Context(), Options{Plan: small(), Dir: t.TempDir(), Dial: net.Dial})
		if err == nil || !strings.Contains(err.Error(), "the target stopped completing turns in level a-c4-r1: no turn succeeds any more") {
			t.Errorf("error %v", err)
		}
		if len(run.Results) != 2 || run.Interrupted == "" {
			t.Errorf("%d results, interrupted %q", len(run.Results), run.Interrupted)
		}
	})
}

// TestWhyNotReady: the reason why a target is not ready is logged at once, and every minute. A mistake in the plan ends
// the sweep within 30 s; a switch may have started a large model.
func TestWhyNotReady(t *testing.T) {
	const slow = 8 * time.Second // the first answer, within its timeout
	for name, tt := range map[string]struct {
		status   int
		switches bool
		atMost   time.Duration
		message  string
	}{
		"loading":              {http.StatusServiceUnavailable, false, firstTimeout, "completed no turn within 25s: "},
		"refused":              {http.StatusNotFound, false, firstTimeout, "completed no turn within 25s: the last turn ended as http_4xx: "},
		"refused after switch": {http.StatusNotFound, true, readyTimeout, "completed no turn within 10m0s: the last turn ended as http_4xx: "},
	} {
		t.Run(name, func(t *testing.T) {
			plan := small()
			plan.Variants[0].Target.Model = "no-such-model"
			if tt.switches {
				plan.Variants[0].Switch = []string{"deploy"}
			}
			testNotReady(t, plan, tt.status, slow, tt.atMost, tt.message)
		})
	}
}

// TestDeadTarget: nothing listens, packets vanish, or a server accepts requests and never answers, however long the
// workload waits for a first token.
func TestDeadTarget(t *testing.T) {
	var site network
	for why, dial := range map[string]func(ctx context.Context, network, addr string) (net.Conn, error){
		"connection refused": func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") },
		"": func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"it accepts requests, but does not answer them; start it": site.Dial,
	} {
		synctest.Test(t, func(t *testing.T) {
			begin, plan, sim := time.Now(), small(), simulate.New(quick())
			plan.Workload.Timeouts = workload.Timeouts{FirstToken: 90 * time.Second, Stall: 90 * time.Second, Total: 2 * time.Minute}
			defer site.serve(t, "a", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					sim.ServeHTTP(w, r)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not see that the client is gone
				<-r.Context().Done()
			}))()
			_, err := Run(t.Context(), Options{Plan: plan, Dir: t.TempDir(), Dial: dial})
			if err == nil || !strings.Contains(err.Error(), `"a" completed no turn within 25s: `) || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "correct the address") {
				t.Errorf("%s: error %v", why, err)
			}
			if waited := time.Since(begin); waited > 30*time.Second {
				t.Errorf("%s: waited %s", why, waited)
			}
		})
	}
}

func testNotReady(t *testing.T, plan fleet.Plan, status int, slow, atMost time.Duration, message string) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		var answers atomic.Int32 // a sync.Once would stop the virtual time of requests that wait for it
		defer net.serve(t, "a", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answers.Add(1) == 1 {
				time.Sleep(slow)
			}
			http.Error(w, `{"error":{"message":"No model yet"}}`, status)
		}))()
		begin := time.Now()
		var told []time.Duration
		logger := slog.New(slog.NewTextHandler(writer(func(line []byte) {
			if text := string(line); strings.Contains(text, fmt.Sprint(status)) && strings.Contains(text, "No model yet") && strings.Contains(text, "at_most="+atMost.String()) {
				told = append(told, time.Since(begin).Round(10*time.Second))
			}
		}), nil))
		o := Options{Plan: plan, Dir: t.TempDir(), Dial: net.Dial, Logger: logger, Command: func(context.Context, []string, []string) error { return nil }}
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("error %v, want %q in it", err, message)
		}
		if waited := time.Since(begin); waited < atMost || waited > atMost+5*time.Second {
			t.Errorf("waited %s, want %s", waited, atMost)
		}
		var want []time.Duration
		for at := slow.Round(10 * time.Second); at < atMost; at += logNotReadyEvery {
			want = append(want, at)
		}
		if !slices.Equal(told, want) {
			t.Errorf("the reason was told after %v, want %v", told, want)
		}
	})
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// TestRefusesForAWhile: a target that has completed turns, and then refuses them for some minutes, is waited for.
func TestRefusesForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		d := simulate.New(quick())
		var refuses atomic.Bool
		defer net.serve(t, "a", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if refuses.Load() && strings.HasSuffix(r.URL.Path, "/completions") {
				http.Error(w, `{"error":{"message":"No model yet"}}`, http.StatusNotFound)
				return
			}
			d.ServeHTTP(w, r)
		}))()
		time.AfterFunc(40*time.Second, func() {
			refuses.Store(true)
			time.AfterFunc(5*time.Minute, func() { refuses.Store(false) })
		})
		run, err := Run(t.Context(), Options{Plan: small(), Dir: t.TempDir(), Dial: net.Dial})
		if err != nil {
			t.Fatal(err)
		}
		if first, second := run.Results[0], run.Results[1]; first.State != runs.EndedEarly || second.State != runs.Complete {
			t.Errorf("first level: %s (%s), second: %s (%s)", first.State, first.Why, second.State, second.Why)
		}
	})
}

// TestHangsCount: all turns hang in a level that is shorter than the timeout. No turn ends
// within it, but the level fails.
func TestHangsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		d := simulate.New(quick())
		defer net.serve(t, "a", d)()
		go func() {
			time.Sleep(31 * time.Second) // just before the end of the second warm-up
			d.Update(func(o *simulate.Options) { o.Incidents = []simulate.Incident{{Kind: simulate.NoAnswer, Share: 1}} })
		}()
		plan := small()
		plan.Levels, plan.WarmUp.Duration = []float64{3}, 16*time.Second
		plan.Measure = fleet.Measure{Snapshots: 1, Snapshot: 5 * time.Second}
		run, err := Run(t.Context(), Options{Plan: plan, Dir: t.TempDir(), Dial: net.Dial})
		if err != nil {
			t.Fatal(err)
		}
		r := run.Results[0]
		if n := outcomes(r); len(n) != 0 {
			t.Errorf("turns ended within: %v", n)
		}
		if r.Tail == nil || r.Tail.Outcomes[probe.TimeoutFirstToken] != 3 {
			t.Errorf("tail %+v, want 3 turns that timed out", r.Tail)
		}
		if r.Verdict.Met || !cmp.Equal(r.Verdict.Lost, []string{"ttft", "availability"}) {
			t.Errorf("verdict %+v", r.Verdict)
		}
		if *r.Snapshots[0].InFlightMean != 3 {
			t.Errorf("in flight %g", *r.Snapshots[0].InFlightMean)
		}
	})
}

// TestResume stops a sweep in its second level and resumes it: the first level is not measured again, and is unchanged.
func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		d := simulate.New(quick())
		defer net.serve(t, "a", d)()
		dir := t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), 110*time.Second)
		defer cancel()
		var finished []runs.Result
		o := Options{Plan: small(), Dir: dir, Dial: net.Dial, Finished: func(r runs.Result, _ string) { finished = append(finished, r) }}
		run, err := Run(ctx, o)
		if !errors.Is(err, ErrInterrupted) || len(finished) != 1 {
			t.Fatalf("error %v after %d levels", err, len(finished))
		}
		if len(run.Results) != 2 || run.Results[1].State != runs.Interrupted || run.Interrupted == "" {
			t.Errorf("the run of a stopped sweep: %d results, interrupted %q", len(run.Results), run.Interrupted)
		}
		path := filepath.Join(dir, "levels", "a-c2-r1.json")
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		o.Resume = true
		began := time.Now()
		if run, err = Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 85*time.Second {
			t.Errorf("going on took %s, more than one level", took)
		}
		after, err := os.ReadFile(path)
		if err != nil || string(after) != string(before) {
			t.Errorf("the finished level's file changed (%v)", err)
		}
		if len(finished) != 2 || len(run.Results) != 2 || run.Results[1].State != runs.Complete || run.Interrupted != "" {
			t.Errorf("%d finished, %d results, interrupted %q", len(finished), len(run.Results), run.Interrupted)
		}
		if !run.Results[0].Started.Equal(finished[0].Started) {
			t.Error("the first level was measured again")
		}
		if len(run.Deployment) == 0 || run.Deployment[0].Name != "Model" || run.Deployment[0].Variant != "" {
			t.Errorf("deployment %+v", run.Deployment)
		}
	})
}

// TestStoppedBeforeWhatIsFinished removes the first level's file, resumes and stops at once:
// the run still has the second level.
func TestStoppedBeforeWhatIsFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", simulate.New(quick()))()
		o := Options{Plan: small(), Dir: t.TempDir(), Dial: net.Dial}
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(o.Dir, "levels", "a-c2-r1.json")); err != nil {
			t.Fatal(err)
		}
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		o.Resume = true
		run, err := Run(stopped, o)
		if !errors.Is(err, ErrInterrupted) {
			t.Fatalf("error %v", err)
		}
		if len(run.Results) != 1 || run.Results[0].Level != 4 || run.Results[0].State != runs.Complete {
			t.Errorf("results %+v, want the finished level", run.Results)
		}
	})
}

// TestDirectories rejects directories of other sweeps, and leaves them unchanged.
func TestDirectories(t *testing.T) {
	plan := small()
	other := small()
	other.Source.SHA256 = "11"
	made := func(name, text string) string {
		dir := t.TempDir()
		if name != "" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	begun := func(o Options) string {
		o.Dir = t.TempDir()
		st, err := openStore(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.begin(o); err != nil {
			t.Fatal(err)
		}
		st.close()
		return o.Dir
	}
	held := begun(Options{Plan: plan})
	lock, err := atomicfile.LockDir(held)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	broken := begun(Options{Plan: plan})
	if err := os.WriteFile(filepath.Join(broken, "levels", "a-c2-r1.json"), []byte(`{"format":`), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := begun(Options{Plan: plan})
	if err := os.WriteFile(filepath.Join(foreign, "levels", "a-c2-r1.json"), []byte(`{"sweep":"x","cell":"a-c2-r1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir    string
		resume bool
		search bool
		want   string
	}{
		"somebody's files":   {made("notes.txt", "x"), false, false, `is not empty ("notes.txt")`},
		"somebody's, resume": {made("run.json", "{}"), true, false, `is not empty ("run.json")`},
		"another plan":       {begun(Options{Plan: other}), true, false, "another plan"},
		"without resume":     {begun(Options{Plan: plan}), false, false, "use --resume"},
		"grid and search":    {begun(Options{Plan: plan}), true, true, "holds a grid"},
		"half a header":      {made("sweep.json", `{"for`), true, false, "was not written by a sweep"},
		"newer":              {made("sweep.json", `{"format":99}`), true, false, "another synthetic (format 99"},
		"older":              {made("sweep.json", `{"format":1}`), true, false, "another synthetic (format 1"},
		"half a level":       {broken, true, false, "is broken"},
		"a foreign level":    {foreign, true, false, "of another sweep"},
		"in use":             {held, true, false, "in use by process"},
	} {
		before := listing(t, c.dir)
		run, err := Run(t.Context(), Options{Plan: plan, Dir: c.dir, Resume: c.resume, FindCapacity: c.search})
		if err == nil || run != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: run %v, error %v, want one with %q", name, run, err, c.want)
		}
		if diff := cmp.Diff(before, listing(t, c.dir)); diff != "" {
			t.Errorf("%s: the directory changed:\n%s", name, diff)
		}
	}
}

// listing returns the files of a directory with their contents, without the lock.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == atomicfile.LockName {
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSwitches checks when a switch runs and with which arguments, and that a real turn, not /health, shows readiness.
func TestSwitches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		d := simulate.New(quick())
		var loading atomic.Bool
		defer net.serve(t, "a", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if loading.Load() && strings.HasSuffix(r.URL.Path, "/completions") {
				http.Error(w, "loading", http.StatusServiceUnavailable)
				return
			}
			d.ServeHTTP(w, r)
		}))()
		plan := small()
		plan.WarmUp, plan.Measure = fleet.WarmUp{Duration: 5 * time.Second}, fleet.Measure{Snapshots: 1, Snapshot: 20 * time.Second}
		plan.Variants = nil
		for _, name := range []string{"x", "y"} {
			v := variant("a")
			v.Name, v.Target.Name = name, name
			v.Switch = []string{"deploy", name}
			plan.Variants = append(plan.Variants, v)
		}
		var switched []string
		o := Options{Plan: plan, Dir: t.TempDir(), Dial: net.Dial, Command: func(_ context.Context, command, env []string) error {
			switched = append(switched, fmt.Sprint(command, env))
			loading.Store(true)
			time.AfterFunc(20*time.Second, func() { loading.Store(false) })
			return nil
		}}
		run, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"[deploy x] [SYNTHETIC_VARIANT=x SYNTHETIC_BASE_URL=http://a/v1]",
			"[deploy y] [SYNTHETIC_VARIANT=y SYNTHETIC_BASE_URL=http://a/v1]",
			"[deploy x] [SYNTHETIC_VARIANT=x SYNTHETIC_BASE_URL=http://a/v1]",
		}
		if diff := cmp.Diff(want, switched); diff != "" {
			t.Errorf("switches (-want +got):\n%s", diff)
		}
		for _, r := range run.Results {
			if n := outcomes(r); len(n) != 1 || n[probe.Success] == 0 {
				t.Errorf("%s, level %g: %v", r.Variant, r.Level, n)
			}
		}
	})
}

// TestSwitchFails ends the sweep and shows the output of the command.
func TestSwitchFails(t *testing.T) {
	plan := small()
	plan.Variants[0].Switch = []string{"sh", "-c", "echo no such model: $SYNTHETIC_VARIANT >&2; exit 3"}
	_, err := Run(t.Context(), Options{Plan: plan, Dir: t.TempDir()})
	for _, want := range []string{`before a-c2-r1: switching to "a"`, "exit status 3", "no such model: a"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err = runCommand(ctx, []string{"sleep", "60"}, nil); err == nil || !strings.Contains(err.Error(), "signal: interrupt") {
		t.Errorf("error %v", err)
	}
}
