//go:build e2e && real

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"
)

var (
	calm    = flag.Duration("calm", 2*time.Minute, "time without a fault before the first and after the last scene")
	settle  = flag.Duration("settle", time.Minute, "time without a fault before each scene")
	after   = flag.Duration("after", 2*time.Minute, "time for which a scene goes on after the end of its alerts")
	records = flag.String("records", filepath.Join(os.TempDir(), "synthetic-real"), "directory for the records of the scenes")
)

// scene is one fault, and the alert that must name it.
type scene struct {
	name   string
	fault  func()
	repair func()
	// alert matches the names of the alerts that may report the fault first.
	alert, severity string
	// cause matches the summary or the first sentence of the description.
	cause  string
	within time.Duration // limit of the time from the fault to the alert
	// allowed matches the names of further pages that report a fault of their own.
	allowed string
}

const (
	outageLimit = time.Minute
	// A request that hangs fails only after its timeout of 30 s for the first token.
	hangLimit   = 30*time.Second + 30*time.Second
	ticketLimit = 5 * time.Minute
	// overLimit limits the time from the repair to the end of the last page.
	overLimit = 2 * time.Minute
	// giveUp limits how long a scene waits for an alert or an end that has missed its limit.
	giveUp = 6 * time.Minute
	// hold is the time from the alert to the repair, in which further alerts may come.
	hold = 45 * time.Second
)

// play breaks something, waits for the alert, repairs it and waits for the end of all pages.
func (w *watcher) play(t *testing.T, s scene) {
	t.Helper()
	begun := time.Now()
	s.fault()
	poll(max(giveUp, s.within), func() bool { return slices.ContainsFunc(w.since(begun), s.expects) })
	time.Sleep(hold)
	s.repair()
	repaired := time.Now()
	poll(giveUp, func() bool { return !slices.ContainsFunc(w.history(), (*fired).stillPages) })
	time.Sleep(*after)

	o := outcome{scene: s, begun: begun, repaired: repaired}
	for _, f := range w.since(begun) {
		if o.first == nil && s.expects(f) {
			o.first = f
		} else {
			o.others = append(o.others, f)
		}
	}
	o.check(t)
	realTable.add(o)
}

// expects reports whether an alert may be the first that reports the fault.
func (s scene) expects(f *fired) bool {
	return f.Severity == s.severity && regexp.MustCompile("^("+s.alert+")$").MatchString(f.Name)
}

// poll waits until done returns true, at most for the limit.
func poll(limit time.Duration, done func() bool) {
	for deadline := time.Now().Add(limit); !done() && time.Now().Before(deadline); {
		time.Sleep(200 * time.Millisecond)
	}
}

// rest lets time pass without a fault, and fails the test if there is a page.
func (w *watcher) rest(t *testing.T, d time.Duration) {
	t.Helper()
	begun := time.Now()
	time.Sleep(d)
	for _, f := range w.since(begun) {
		if f.pages() {
			t.Errorf("a page without a fault: %s (%s)", f.Summary, f.Description)
		}
	}
}

// startScene starts a watcher and lets it see the targets well.
func startScene(t *testing.T, targets string, arguments ...any) *watcher {
	t.Helper()
	w := startWatcher(t, fmt.Sprintf(targets, arguments...), sceneArrival)
	w.sidecar.awaitTurns(t, 10)
	w.rest(t, *settle)
	return w
}

const directTarget = `
  - {name: vllm, base_url: "http://%s/v1", model: tiny, server_metrics: {}}
`

// TestRealScenes plays all scenes. The gateways' scenes run at the same time, because they
// leave vLLM alone; those of vLLM follow one after the other.
func TestRealScenes(t *testing.T) {
	servers := startRealServers(t)
	defer realTable.write(t)
	t.Run("CalmBefore", func(t *testing.T) { calmScene(t, servers) })
	t.Run("Gateways", func(t *testing.T) {
		for name, run := range map[string]func(*testing.T, *realServers){
			"Limited": limitedScene, "BrokenKey": brokenKeyScene, "DeadPrimary": deadPrimaryScene,
			"ModelGone": modelGoneScene, "Buffering": bufferingScene,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				run(t, servers)
			})
		}
	})
	for _, s := range []struct {
		name string
		run  func(*testing.T, *realServers)
	}{
		{"EngineStopped", engineStoppedScene},
		{"EngineKilled", engineKilledScene},
		{"EngineRestarted", engineRestartedScene},
		{"Saturated", saturatedScene},
		{"NginxDownAfterFleet", nginxDownAfterFleetScene},
		{"CalmAfter", calmScene},
	} {
		t.Run(s.name, func(t *testing.T) { s.run(t, servers) })
	}
}

// calmScene probes at the default rate, with its bursts, for a time without a fault.
func calmScene(t *testing.T, s *realServers) {
	w := startWatcher(t, s.fleet(), "")
	w.rest(t, *calm)
	realTable.addCalm(t, *calm, w)
}

// fleet has targets that share vLLM: two of them directly, two behind nginx, one behind
// LiteLLM.
func (s *realServers) fleet() string {
	return fmt.Sprintf(directTarget, s.vllmAddress) + fmt.Sprintf(`
  - {name: messages, base_url: "http://%[1]s/v1", model: tiny, api: messages}
  - {name: nginx, base_url: "https://%[2]s/v1", model: tiny, http_client: {tls_config: {ca_file: %[4]q}}}
  - {name: nginx-unbuffered, base_url: "https://%[3]s/v1", model: tiny, http_client: {tls_config: {ca_file: %[4]q}}}
`, s.vllmAddress, s.nginxAddress, s.unbufferedAddress, s.certificate) + s.litellmTarget("litellm", "tiny")
}

func (s *realServers) litellmTarget(name, model string) string {
	return s.litellmTargetWithKey(name, model, s.keyFile(name))
}

func (s *realServers) litellmTargetWithKey(name, model, file string) string {
	return fmt.Sprintf("\n  - {name: %s, base_url: \"http://%s/v1\", model: %s, api_key_file: %q}\n", name, s.litellmAddress, model, file)
}

// keyFile writes LiteLLM's key into a file for a target.
func (s *realServers) keyFile(target string) string {
	path := filepath.Join(s.dir, "key-"+target)
	s.writeKey(path, liteLLMKey)
	return path
}

func (s *realServers) writeKey(path, key string) {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func engineStoppedScene(t *testing.T, s *realServers) {
	w := startScene(t, directTarget, s.vllmAddress)
	w.play(t, scene{
		name:   "vLLM's EngineCore stopped (SIGSTOP)",
		fault:  func() { s.signalEngine(syscall.SIGSTOP) },
		repair: func() { s.signalEngine(syscall.SIGCONT) },
		alert:  "SyntheticTargetDown", severity: "page", within: hangLimit,
		cause: `timeout_first_token|no first token|stuck`,
	})
}

func engineKilledScene(t *testing.T, s *realServers) {
	w := startScene(t, directTarget, s.vllmAddress)
	w.play(t, scene{
		name:   "vLLM's EngineCore killed (SIGKILL), and vLLM started again",
		fault:  func() { s.signalEngine(syscall.SIGKILL) },
		repair: func() { s.vllm.stop(); s.runVLLM() },
		alert:  "SyntheticTargetDown", severity: "page", within: outageLimit,
		cause: `connect_error|connection refused|refuses`,
	})
}

func engineRestartedScene(t *testing.T, s *realServers) {
	w := startScene(t, directTarget, s.vllmAddress)
	w.play(t, scene{
		name:   "vLLM ended (SIGTERM) for a restart",
		fault:  func() { s.vllm.stop() },
		repair: func() { s.runVLLM() },
		alert:  "SyntheticTargetDown", severity: "page", within: outageLimit,
		cause: `connect_error|connection refused|refuses`,
	})
}

func saturatedScene(t *testing.T, s *realServers) {
	w := startScene(t, directTarget, s.vllmAddress)
	ctx, cancel := context.WithCancel(t.Context())
	w.play(t, scene{
		name:   "vLLM saturated: 40 requests of 600 + 600 tokens at a time, with preemption",
		fault:  func() { s.saturate(ctx, 40) },
		repair: cancel,
		alert:  "SyntheticSLOFastBurn|SyntheticRegression|SyntheticTargetDown", severity: "page", within: outageLimit,
		cause: `\d+ waiting|preempt|saturated`,
	})
}

// nginxDownAfterFleetScene is two scenes: a fault that all targets share, and a minute after
// its end another one of two of the targets.
func nginxDownAfterFleetScene(t *testing.T, s *realServers) {
	w := startScene(t, "%s", s.fleet())
	w.play(t, scene{
		name:   "EngineCore stopped (SIGSTOP) below five targets",
		fault:  func() { s.signalEngine(syscall.SIGSTOP) },
		repair: func() { s.signalEngine(syscall.SIGCONT) },
		alert:  "SyntheticFleetRegression|SyntheticTargetDown", severity: "page", within: hangLimit,
		cause: `timeout_first_token|no first token|stuck|decoding hangs`,
	})
	w.play(t, scene{
		name:   "nginx ended, after the outage of all five targets",
		fault:  func() { s.nginx.stop() },
		repair: func() { s.runNginx() },
		alert:  "SyntheticTargetDown|SyntheticFleetRegression", severity: "page", within: outageLimit,
		cause:   `connect_error|connection refused|refuses`,
		allowed: "SyntheticTargetDown", // there are two of them
	})
}

func limitedScene(t *testing.T, s *realServers) {
	w := startScene(t, "%s", s.litellmTarget("limited", "limited"))
	ctx, cancel := context.WithCancel(t.Context())
	w.play(t, scene{
		name:  "LiteLLM refuses with 429: the model's requests per minute are used up",
		fault: func() { go s.exhaust(ctx) },
		repair: func() {
			cancel()
			// LiteLLM counts the requests of each minute of the clock, and refuses until it ends.
			time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
		},
		alert: "SyntheticTargetBusy|SyntheticSLOFastBurn|SyntheticTargetDown", severity: "page", within: outageLimit,
		cause: `429|refus|rate limit`,
	})
}

func brokenKeyScene(t *testing.T, s *realServers) {
	file := s.keyFile("key")
	w := startScene(t, "%s", s.litellmTargetWithKey("key", "tiny", file))
	w.play(t, scene{
		name:   "LiteLLM's key replaced by a wrong one",
		fault:  func() { s.writeKey(file, "sk-wrong") },
		repair: func() { s.writeKey(file, liteLLMKey) },
		alert:  "SyntheticTargetDown", severity: "page", within: outageLimit,
		cause: `No connected db|http_4xx|key|400|401`,
	})
}

func deadPrimaryScene(t *testing.T, s *realServers) {
	w := startScene(t, "%s", s.litellmTarget("fallback", "fallback"))
	w.play(t, scene{
		name:   "LiteLLM's primary dead (HAProxy killed), its fallback answers",
		fault:  func() { s.haproxy.kill() },
		repair: func() { s.runHAProxy() },
		alert:  ".*Fallback.*", severity: "ticket", within: ticketLimit,
		cause:   `fallback`,
		allowed: "SyntheticSLOFastBurn", // turns wait nine seconds for the fallback
	})
}

func modelGoneScene(t *testing.T, s *realServers) {
	s.loadAdapter("gone")
	w := startScene(t, "  - {name: gone, base_url: \"http://%s/v1\", model: gone}\n", s.vllmAddress)
	w.play(t, scene{
		name:   "the model is unloaded (404)",
		fault:  func() { s.unloadAdapter("gone") },
		repair: func() { s.loadAdapter("gone") },
		alert:  "SyntheticTargetDown", severity: "page", within: outageLimit,
		cause: `does not exist`,
	})
	s.unloadAdapter("gone")
}

func bufferingScene(t *testing.T, s *realServers) {
	w := startScene(t, `
  - {name: nginx, base_url: "https://%s/v1", model: tiny, http_client: {tls_config: {ca_file: %q}}}
`, s.nginxAddress, s.certificate)
	w.play(t, scene{
		name:   "nginx buffers answers, its default",
		fault:  func() { s.setBuffering("on") },
		repair: func() { s.setBuffering("off") },
		alert:  "SyntheticProxyBuffering", severity: "ticket", within: 10 * time.Minute,
		cause: `burst|buffer`,
	})
}
