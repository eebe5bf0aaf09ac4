package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/simulate"
)

// letterbox is an Alertmanager that remembers what it was told, and when.
type letterbox struct {
	mu   sync.Mutex
	dead bool // what comes now is of a process that was killed
	got  []told
	// told gets what comes, if it has room; nil in virtual time.
	told chan told
}

type told struct {
	Labels           map[string]string
	StartsAt, EndsAt time.Time
	at               time.Time
}

func (a told) firing() bool { return a.EndsAt.After(a.at) }

func (b *letterbox) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var alerts []told
	if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
		panic(err) // the server logs it, and the test finds nothing told
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range alerts {
		a.at = time.Now()
		if b.dead {
			continue
		}
		b.got = append(b.got, a)
		select {
		case b.told <- a:
		default:
		}
	}
}

func (b *letterbox) mark(dead bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead = dead
}

// of lists what was told of the alerts of a name, by what tells them apart.
func (b *letterbox) of(name string) map[string][]told {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string][]told{}
	for _, a := range b.got {
		if a.Labels["alertname"] == name {
			which := strings.TrimSpace(a.Labels["turn"] + " " + a.Labels["signal"] + a.Labels["slo"])
			out[which] = append(out[which], a)
		}
	}
	return out
}

// await waits for something that was told; nothing comes in two minutes if that
// is zero.
func (b *letterbox) await(t *testing.T, ok func(told) bool) told {
	t.Helper()
	for timeout := time.After(2 * time.Minute); ; {
		select {
		case a := <-b.told:
			if ok(a) {
				return a
			}
		case <-timeout:
			t.Error("the Alertmanager was not told within two minutes")
			return told{}
		}
	}
}

// drain forgets what nobody awaited.
func (b *letterbox) drain() {
	for len(b.told) > 0 {
		<-b.told
	}
}

// eventually polls a condition of the outside world for half a minute.
func eventually(ok func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// lapses is how long an Alertmanager that was told this believed the alert to
// be over between its beginning and a time.
func lapses(letters []told, until time.Time) time.Duration {
	var lapsed time.Duration
	for i, a := range letters {
		next := until
		if i+1 < len(letters) {
			next = letters[i+1].at
		}
		if next.After(until) {
			next = until
		}
		if over := next.Sub(later(a.EndsAt, a.at)); over > 0 {
			lapsed += over
		}
	}
	return lapsed
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// site is where sidecars come and go: a deployment, an Alertmanager, and a disk.
type site struct {
	t      *testing.T
	cfg    *config.Config
	target *simulate.Deployment
	box    *letterbox
	wires  map[string]*pipes
	disk   string // of the process that runs
}

// newSite must be called within a synctest bubble; close ends it.
func newSite(t *testing.T, alerting string) (s *site, end func()) {
	s = &site{t: t, target: simulate.New(healthyOptions()), box: &letterbox{}, disk: t.TempDir(), wires: map[string]*pipes{}}
	var ends []func()
	for addr, h := range map[string]http.Handler{"deployment:80": s.target, "alertmanager:80": s.box} {
		wire, server, served := newPipes(), newServer(h), make(chan struct{})
		s.wires[addr] = wire
		go func() {
			defer close(served)
			_ = server.Serve(wire) // ends by close
		}()
		ends = append(ends, func() { _ = server.Close(); <-served })
	}
	cfg, err := config.Parse("synthetic.yml", []byte(alertsConfig+alerting), ".")
	if err != nil {
		t.Fatal(err)
	}
	s.cfg = cfg
	return s, func() {
		for _, e := range ends {
			e()
		}
	}
}

// usual writes a state file of a job that has known a TTFT of 200 ms and a TPOT
// of 20 ms for two days.
func (s *site) usual() {
	var slots [2][]regression.SlotState // by signal
	for signal, seconds := range []float64{.2, .02} {
		for i := range 48 {
			e := regression.Entry{Mean: float32(math.Log(seconds) + .05*float64(i%2*2-1)), Variance: .09, N: 300}
			slots[signal] = append(slots[signal], regression.SlotState{Slot: i, Entries: []regression.Entry{e, e}})
		}
	}
	job := regression.JobState{Target: "chat", Workload: "chat"}
	for kind := range 2 {
		for signal := range 2 {
			job.Series = append(job.Series, regression.SeriesState{Kind: kind, Signal: signal, Slots: slots[signal]})
		}
	}
	if err := (regression.File{Jobs: []regression.JobState{job}}).WriteFile(s.stateFile()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) stateFile() string { return filepath.Join(s.disk, "baselines.json") }

// begin starts a sidecar on the disk as "synthetic run" does.
func (s *site) begin() (sidecar *sidecar, stop func()) {
	s.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		return s.wires[addr].dial(ctx, network, addr)
	}
	sidecar, err := newSidecar(sidecarOptions{logger: quiet, drainTimeout: time.Second, dial: dial})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := restoreBaselines(s.stateFile(), sidecar.recorder); err != nil {
		s.t.Fatal(err)
	}
	cfg, section := *s.cfg, *s.cfg.Alerting
	if section.Directory != "" {
		section.Directory = filepath.Join(s.disk, "pager")
	}
	cfg.Alerting = &section
	if err := sidecar.apply(&cfg); err != nil {
		s.t.Fatal(err)
	}
	sidecar.recorder.SetReload(true, time.Now())
	saved := keepBaselines(s.stateFile(), sidecar.recorder, quiet)
	ctx, cancel := context.WithCancel(context.Background())
	ended, listen := make(chan error, 1), newPipes()
	server := newServer(sidecar.handlers(nil))
	go func() { ended <- serve(ctx, quiet, sidecar, nil, server, func() error { return server.Serve(listen) }) }()
	return sidecar, func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
		saved()
	}
}

// kill ends a sidecar as SIGKILL does: what is on the disk at this moment stays,
// and nobody hears of what it does from now on.
func (s *site) kill(stop func()) {
	s.t.Helper()
	synctest.Wait()
	left := s.t.TempDir()
	if err := os.CopyFS(left, os.DirFS(s.disk)); err != nil {
		s.t.Fatal(err)
	}
	s.box.mark(true)
	stop()
	s.box.mark(false)
	s.disk = left
}

// baselines are what is exported of them, by name and labels.
func baselines(t *testing.T, s *sidecar) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, sample := range s.samples(t) {
		if id := sample.Labels.String(); strings.Contains(id, `"synthetic_baseline_`) {
			out[id] = sample.Value
		}
	}
	return out
}
