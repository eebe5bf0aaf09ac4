package sidecar_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// lapses returns for how long the alert had ended for the Alertmanager, between its start and a time.
func lapses(letters []stage.Alert, until time.Time) time.Duration {
	var lapsed time.Duration
	for i, a := range letters {
		next := until
		if i+1 < len(letters) {
			next = letters[i+1].At
		}
		if next.After(until) {
			next = until
		}
		if over := next.Sub(later(a.EndsAt, a.At)); over > 0 {
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

// site holds what outlives a sidecar: a deployment, an Alertmanager and a disk.
type site struct {
	t      *testing.T
	cfg    *config.Config
	target *simulate.Deployment
	box    *stage.Letterbox
	wires  map[string]*simulate.Pipes
	disk   string // of the running process
}

// newSite must be called within a synctest bubble; end closes its connections.
func newSite(t *testing.T, alerting string) (s *site, end func()) {
	s = &site{t: t, target: simulate.New(healthyOptions()), box: &stage.Letterbox{}, disk: t.TempDir(), wires: map[string]*simulate.Pipes{}}
	var ends []func()
	for addr, h := range map[string]http.Handler{"deployment:80": s.target, "alertmanager:80": s.box} {
		s.wires[addr] = simulate.NewPipes()
		ends = append(ends, simulate.Serve(s.wires[addr], h))
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

// saveBaseline writes a state file with a baseline of days: a TTFT of 200 ms and a TPOT of 20 ms.
func (s *site) saveBaseline() {
	stage.Remember(s.t, s.stateFile(), probe.Key{Target: "chat", Workload: "chat"}, [2]time.Duration{200 * time.Millisecond, 20 * time.Millisecond})
}

func (s *site) stateFile() string { return filepath.Join(s.disk, "baselines.json") }

// begin starts a sidecar on the disk as "synthetic run" does.
func (s *site) begin() (prober *sidecar.Sidecar, stop func()) {
	s.t.Helper()
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		return s.wires[addr].Dial(ctx, network, addr)
	}
	prober, err := sidecar.New(sidecar.Options{DrainTimeout: time.Second, Dial: dial, StateFile: s.stateFile()})
	if err != nil {
		s.t.Fatal(err)
	}
	cfg, section := *s.cfg, *s.cfg.Alerting
	if section.Directory != "" {
		section.Directory = filepath.Join(s.disk, "pager")
	}
	cfg.Alerting = &section
	if err := prober.Apply(&cfg); err != nil {
		s.t.Fatal(err)
	}
	return prober, stage.Run(s.t, prober)
}

// kill ends a sidecar as SIGKILL does: the files on the disk at this moment remain, and later changes
// and messages are ignored.
func (s *site) kill(stop func()) {
	s.t.Helper()
	synctest.Wait()
	left := s.t.TempDir()
	if err := os.CopyFS(left, os.DirFS(s.disk)); err != nil {
		s.t.Fatal(err)
	}
	s.box.Mark(true)
	stop()
	s.box.Mark(false)
	s.disk = left
}

// baselines returns the exported baselines, by name and labels.
func baselines(t *testing.T, s *sidecar.Sidecar) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, sample := range stage.Samples(t, s) {
		if id := sample.Labels.String(); strings.Contains(id, `"synthetic_baseline_`) {
			out[id] = sample.Value
		}
	}
	return out
}
