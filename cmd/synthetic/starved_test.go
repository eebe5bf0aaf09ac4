//go:build unix

package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"synthetic/internal/probe/lag"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// Flags for "make starvation", which starves a prober of many targets for longer.
var (
	starveTargets = flag.Int("starve.targets", 3, "how many targets the starved prober has")
	starveFor     = flag.Duration("starve.for", 6*time.Second, "for how long it is starved; from 2m30s on its own page is awaited")
	starveCgroup  = flag.String("starve.cgroup", "", "directory of a cgroup with a cpu controller (v1), below which a quota of 2 % is set; none stops and continues the process instead")
)

// arrivals counts the requests to a deployment.
type arrivals struct {
	http.Handler
	turns atomic.Int64
}

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		a.turns.Add(1)
	}
	a.Handler.ServeHTTP(w, r)
}

// TestStarvedProber takes the CPU from the real program, whose deployment stays quick. No
// failure, no SLO violation and no page may result, and the deployment has to receive each
// turn that the prober counts as sent.
func TestStarvedProber(t *testing.T) {
	d, _ := fastDeployment(t, func(o *simulate.Options) { o.Model, o.FirstToken.Median = "m", 50*time.Millisecond })
	counted := &arrivals{Handler: d}
	server := httptest.NewServer(counted)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	box := &stage.Letterbox{Arrived: make(chan stage.Alert, 100_000)}
	am := httptest.NewServer(box)
	t.Cleanup(am.Close)

	file := filepath.Join(t.TempDir(), "synthetic.yml")
	starvationConfig(t, file, server.URL, am.URL, 0.5)
	cmd, p := starvable(t, file)
	p.until("turns before", func(s map[string]float64) bool { n, _ := sum(s, "synthetic_turns_total"); return n > 20 })
	release := starve(t, cmd.Process)
	time.Sleep(*starveFor) // the test needs this time to pass
	release()
	var code int
	var text string
	eventually(func() bool { code, text = p.get("/metrics"); return code == http.StatusOK })
	during := parse(t, text) // includes the lag of the last minute

	lagging := during["synthetic_prober_lag_seconds"]
	if lagging == 0 {
		t.Error("a starved prober does not notice its lag")
	}
	starved, _ := sum(during, "synthetic_prober_starved")
	if lagging > lag.MaxTolerance.Seconds() && starved == 0 {
		t.Errorf("no job of a prober that is %v s late counts as starved", lagging)
	}
	starvationConfig(t, file, server.URL, am.URL, 0.0001) // a low rate, so that at some moment no turn is in flight
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s := settled(p, counted)
	total := func(name string, parts ...string) float64 { n, _ := sum(s, name, parts...); return n }
	notSent, failures, violations := total("synthetic_turn_own_faults_total", `reason="not_sent"`), total("synthetic_turn_failures_total"), total("synthetic_slo_violations_total")
	if failures != 0 || violations != 0 {
		t.Errorf("%v failures and %v SLO violations of a healthy deployment: %v", failures, violations, positive(s, "synthetic_turn_failures_total"))
	}
	if started, got := total("synthetic_turns_started_total"), float64(counted.turns.Load()); started-notSent != got {
		t.Errorf("%v turns started, %v of them not sent, but %v requests arrived", started, notSent, got)
	}
	if *starveFor >= 150*time.Second {
		box.Await(t, func(a stage.Alert) bool { return a.Labels["alertname"] == "SyntheticProberStarved" })
	}
	pages := falsePages(box)
	if len(pages) > 0 {
		t.Errorf("pages about a healthy deployment: %v", pages)
	}
	t.Logf("%d targets, starved for %v: %v turns started, %v not sent, %v late, %v not judged by an SLO; %d requests came; %v failures, %v violations, %d pages about targets; lag %.3g s, %v of %d jobs starved",
		*starveTargets, *starveFor, total("synthetic_turns_started_total"), notSent, total("synthetic_turn_own_faults_total", `reason="prober_late"`),
		total("synthetic_turns_not_judged_total"), counted.turns.Load(), failures, violations, len(pages),
		lagging, starved, *starveTargets)
}

// starvationConfig writes a configuration with many targets at one URL, with rate
// conversations per second each, and with alerting.
func starvationConfig(t *testing.T, path, url, alertmanager string, rate float64) {
	t.Helper()
	var b strings.Builder
	b.WriteString("targets:\n")
	for i := range *starveTargets {
		fmt.Fprintf(&b, "  - {name: t%02d, base_url: %s/v1, model: m}\n", i, url)
	}
	fmt.Fprintf(&b, `workloads:
  - name: chat
    turns: {min: 2, max: 3}
    prompt_tokens: 100
    max_output_tokens: 8
    think_time: {min: 0s, max: 50ms}
    timeouts: {first_token: 2s, stall: 1s, total: 4s}
traffic:
  - {targets: "*", workload: chat, arrival: {process: poisson, rate: %v}, max_concurrency: 50}
slos:
  - {name: ttft, sli: ttft, threshold: 500ms, objective: 99%%}
  - {name: tpot, sli: tpot, threshold: 200ms, objective: 99%%}
  - {name: itl, sli: itl, threshold: 100ms, objective: 99%%}
  - {name: availability, sli: availability, objective: 99%%}
alerting: {interval: 5s, alertmanagers: [{url: %q}]}
`, rate, alertmanager)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// starvable starts the program as a process. by is an optional command to start it with,
// whose last argument is the binary.
func starvable(t *testing.T, file string, by ...string) (*exec.Cmd, *program) {
	t.Helper()
	cmd, _, _ := newProcess("run", "--config.file="+file, "--web.listen-address=127.0.0.1:0", "--shutdown.timeout=1s")
	if len(by) > 0 {
		cmd.Path, cmd.Args = by[0], append(by, cmd.Args...)
	}
	p := &program{t: t, err: newBuffer()}
	cmd.Stderr = p.err
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // the error says that it was killed
	})
	p.base = "http://" + p.err.find(t, `msg="Listening on" address=(\S+)`)
	return cmd, p
}

// starve limits a process to 2 % of a core until release: by a quota, or by stopping it for
// most of each 100 ms.
func starve(t *testing.T, process *os.Process) (release func()) {
	t.Helper()
	if *starveCgroup != "" {
		return limit(t, process.Pid)
	}
	over := make(chan struct{})
	var starving sync.WaitGroup
	starving.Go(func() {
		defer func() { _ = process.Signal(syscall.SIGCONT) }()
		for {
			_ = process.Signal(syscall.SIGSTOP)
			select {
			case <-over:
				return
			case <-time.After(98 * time.Millisecond):
			}
			_ = process.Signal(syscall.SIGCONT)
			time.Sleep(2 * time.Millisecond)
		}
	})
	release = sync.OnceFunc(func() {
		close(over)
		starving.Wait()
	})
	t.Cleanup(release)
	return release
}

// limit puts a process under a CPU quota.
func limit(t *testing.T, pid int) (release func()) {
	t.Helper()
	group := filepath.Join(*starveCgroup, "synthetic-starved-"+strconv.Itoa(pid))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(dir, file, text string) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
	put(group, "cpu.cfs_period_us", "100000")
	put(group, "cpu.cfs_quota_us", "2000")
	put(group, "cgroup.procs", strconv.Itoa(pid))
	release = sync.OnceFunc(func() {
		put(*starveCgroup, "cgroup.procs", strconv.Itoa(pid))
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(release)
	return release
}

// settled returns the metrics at a moment without a turn in flight.
func settled(p *program, counted *arrivals) map[string]float64 {
	p.t.Helper()
	var beat float64 // heartbeat of the previous page, and the requests counted when it was read
	var came int64
	return p.until("a quiet moment", func(s map[string]float64) bool {
		accounted(p.t, s)
		beatBefore, cameBefore := beat, came
		beat, _ = sum(s, "synthetic_scheduler_heartbeat_timestamp_seconds")
		if beat == beatBefore {
			return false // the cached page, which may be older than the count
		}
		came = counted.turns.Load()
		flying, _ := sum(s, "synthetic_turns_in_flight")
		return flying == 0 && came == cameBefore
	})
}

// positive returns the series of a family with values above 0.
func positive(s map[string]float64, name string) (out []string) {
	for series, v := range s {
		if strings.HasPrefix(series, name+"{") && v > 0 {
			out = append(out, fmt.Sprintf("%s %v", series, v))
		}
	}
	return out
}

// falsePages returns the pages about targets that were sent.
func falsePages(box *stage.Letterbox) map[string]int {
	pages := map[string]int{}
	for len(box.Arrived) > 0 {
		if a := <-box.Arrived; a.Labels["severity"] == "page" && a.Labels["target"] != "" {
			pages[a.Labels["alertname"]+" "+a.Labels["target"]]++
		}
	}
	return pages
}

// TestNoFileDescriptors lets the real program run out of file descriptors.
func TestNoFileDescriptors(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process; make test-long runs it")
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a shell to lower the limit")
	}
	_, server := fastDeployment(t, func(o *simulate.Options) { o.Model, o.FirstToken.Median = "m", time.Second })
	file := configFor(t, "/v1, model: m, connection: per_conversation", map[string]string{"a": server.URL, "b": server.URL})
	_, p := starvable(t, file, shell, "-c", `ulimit -n 40 && exec "$0" "$@"`)
	p.until("turns that could not be sent", func(s map[string]float64) bool {
		accounted(t, s)
		n, _ := sum(s, "synthetic_turn_own_faults_total", `reason="not_sent"`)
		if failures, _ := sum(s, "synthetic_turn_failures_total"); failures > 0 {
			t.Fatalf("failures of the deployment were counted: %v", positive(s, "synthetic_turn_failures_total"))
		}
		if violations, _ := sum(s, "synthetic_slo_violations_total", `slo="availability"`); violations > 0 {
			t.Fatalf("%v SLO violations of the deployment were counted", violations)
		}
		return n > 20
	})
}
