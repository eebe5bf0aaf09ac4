package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"synthetic/internal/simulate"
)

func TestMain(m *testing.M) {
	asProgram()
	goleak.VerifyTestMain(m)
}

// buffer is a concurrent buffer. find waits for text in it.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	wake chan struct{} // closed and replaced at each write
}

func newBuffer() *buffer { return &buffer{wake: make(chan struct{})} }

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.wake)
	b.wake = make(chan struct{})
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// find waits until the text matches and returns the first group.
func (b *buffer) find(t *testing.T, pattern string) string {
	t.Helper()
	re, timeout := regexp.MustCompile(pattern), time.After(30*time.Second)
	for {
		b.mu.Lock()
		match, wake := re.FindStringSubmatch(b.text.String()), b.wake
		b.mu.Unlock()
		if match != nil {
			return match[len(match)-1]
		}
		select {
		case <-wake:
		case <-timeout:
			t.Fatalf("%q was not printed; so far:\n%s", pattern, b.String())
		}
	}
}

// program is a command that runs in this process.
type program struct {
	t        *testing.T
	out, err *buffer
	stop     context.CancelFunc
	done     chan struct{}
	code     int
	base     string
}

// start runs a command until stopped.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &program{t: t, out: newBuffer(), err: newBuffer(), stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.code = run(ctx, args, p.out, p.err)
	}()
	t.Cleanup(func() { p.end() })
	return p
}

// sidecarRun starts "synthetic run" on a free port and waits until it serves.
func sidecarRun(t *testing.T, configFile string, more ...string) *program {
	t.Helper()
	args := append([]string{"run", "--config.file=" + configFile, "--web.listen-address=127.0.0.1:0", "--shutdown.timeout=5s"}, more...)
	p := start(t, args...)
	p.base = "http://" + p.err.find(t, `msg="Listening on" address=(\S+)`)
	path := "/-/ready"
	for _, a := range more {
		if prefix, ok := strings.CutPrefix(a, "--web.route-prefix="); ok {
			path = strings.TrimSuffix(prefix, "/") + path
		}
	}
	p.running(path)
	return p
}

// running waits until the scheduler runs, which it does a moment after the port is open.
func (p *program) running(path string) {
	p.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, body := p.get(path); !strings.Contains(body, "the scheduler is not running yet") {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the scheduler does not run within 60 s; log:\n%s", p.err)
		}
	}
}

// end stops the command and returns its exit code.
func (p *program) end() int {
	p.stop()
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		p.t.Errorf("the command did not stop within 30 s")
	}
	return p.code
}

// get returns status and body of a page.
func (p *program) get(path string) (int, string) { return p.do(http.MethodGet, path) }

func (p *program) do(method, path string) (int, string) {
	p.t.Helper()
	req, err := http.NewRequest(method, p.base+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// series returns the samples of /metrics by name and labels, as in
// `synthetic_turns_total{target="a",turn="first",workload="chat"}`.
func (p *program) series() map[string]float64 {
	p.t.Helper()
	_, text := p.get("/metrics")
	return parse(p.t, text)
}

func parse(t *testing.T, text string) map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("the exposition cannot be parsed: %v", err)
	}
	samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, values(families)...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, s := range samples {
		out[s.Metric.String()] = float64(s.Value)
	}
	return out
}

func values[K comparable, V any](m map[K]V) []V {
	var out []V
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// until polls a condition on the series.
func (p *program) until(condition string, ok func(map[string]float64) bool) map[string]float64 {
	p.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		s := p.series()
		if ok(s) {
			return s
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("no %s within 60 s; log:\n%s", condition, p.err)
		}
	}
}

// sum adds up the series of a family whose labels contain every given part.
func sum(series map[string]float64, name string, parts ...string) (total float64, found bool) {
	for s, v := range series {
		if s != name && !strings.HasPrefix(s, name+"{") {
			continue
		}
		all := true
		for _, part := range parts {
			all = all && strings.Contains(s, part)
		}
		if all {
			total, found = total+v, true
		}
	}
	return total, found
}

// fastDeployment serves a deployment that answers within milliseconds.
func fastDeployment(t *testing.T, change ...func(*simulate.Options)) (*simulate.Deployment, *httptest.Server) {
	t.Helper()
	o := simulate.Options{
		Seed: 1, FirstToken: simulate.Delay{Median: 5 * time.Millisecond},
		InterToken: simulate.Delay{Median: time.Millisecond}, Answer: simulate.Length{Median: 8},
	}
	for _, c := range change {
		c(&o)
	}
	d := simulate.New(o)
	server := httptest.NewServer(d)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return d, server
}

// configFor writes a configuration that probes the URLs often.
func configFor(t *testing.T, extra string, urls map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "synthetic.yml")
	writeConfig(t, path, extra, urls)
	return path
}

func writeConfig(t *testing.T, path, extra string, urls map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("targets:\n")
	for name, url := range urls {
		fmt.Fprintf(&b, "  - {name: %s, base_url: %s%s}\n", name, url, extra)
	}
	b.WriteString(`workloads:
  - name: chat
    turns: {min: 2, max: 3}
    prompt_tokens: 100
    max_output_tokens: 8
    think_time: {min: 0s, max: 5ms}
    timeouts: {first_token: 2s, stall: 1s, total: 4s}
traffic:
  - {targets: "*", workload: chat, arrival: {process: poisson, rate: 20}, max_concurrency: 50}
slos:
  - {name: ttft, sli: ttft, threshold: 1s, objective: 99%}
  - {name: availability, sli: availability, objective: 99%}
`)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// eventually polls a condition for half a minute.
func eventually(ok func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
