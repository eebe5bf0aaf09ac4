package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/simulate"
	"synthetic/internal/status"
)

// watched is what a scenario showed.
type watched struct {
	began  time.Time
	firing map[time.Time][]string
	jobs   map[string]status.Job // at the end, by target
}

// watch plays a scenario with the demo's own configuration in virtual time,
// and evaluates the rules that the demo's pager has.
func watch(t *testing.T, s scenario, length time.Duration) watched {
	t.Helper()
	var cfg *config.Config
	var scrapes []scrape
	w := watched{jobs: map[string]status.Job{}}
	synctest.Test(t, func(t *testing.T) {
		w.began = time.Now()
		var stops []func()
		wires := map[string]*pipes{}
		var at []*deployment
		for _, target := range s.targets {
			wire := newPipes()
			wires[target.name+":80"] = wire
			at = append(at, &deployment{addr: target.name})
			server := newServer(simulate.New(target.options))
			served := make(chan error, 1)
			go func() { served <- server.Serve(wire) }()
			stops = append(stops, func() { _ = server.Close(); <-served })
		}
		var err error
		if cfg, err = config.Parse("demo.yml", demoConfigFor(s.targets, at), "."); err != nil {
			t.Fatal(err)
		}
		pages := cfg.Alerting
		cfg.Alerting = nil // its storage has no virtual time
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			return wires[addr].dial(ctx, network, addr)
		}
		sidecar, err := newSidecar(sidecarOptions{logger: slog.New(slog.DiscardHandler), drainTimeout: time.Second, dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		if err := sidecar.apply(cfg); err != nil {
			t.Fatal(err)
		}
		cfg.Alerting = pages
		sidecar.recorder.SetReload(true, time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- sidecar.scheduler.Run(ctx) }()
		for time.Since(w.began) < length {
			time.Sleep(scrapeEvery)
			scrapes = append(scrapes, scrape{time.Now(), sidecar.samples(t)})
		}
		for _, j := range sidecar.page.Snapshot().Jobs {
			w.jobs[j.Target] = j
		}
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		for _, stop := range stops {
			stop()
		}
	})
	files, err := pagerRules(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.firing = evaluate(t, files[0].Data, scrapes)
	return w
}

// TestScenarios pins what a newcomer is promised: nothing fires while all is
// well, and what is wrong fires within minutes.
func TestScenarios(t *testing.T) {
	for name, want := range map[string]string{
		"healthy":    "",
		"kv-vs-rr":   "",
		"regression": "SyntheticSLOFastBurn demo chat ttft",
		"eagle3":     "SyntheticSLOFastBurn demo chat tpot",
		"outage":     "SyntheticSLOFastBurn demo chat availability",
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scenarioNamed(name, 1)
			if err != nil {
				t.Fatal(err)
			}
			w := watch(t, s, 4*time.Minute)
			for at, names := range w.firing {
				if len(names) > 0 && (want == "" || at.Sub(w.began) < demoPause) {
					t.Errorf("%v after the start, while all is well: %v", at.Sub(w.began), names)
				}
			}
			if name == "kv-vs-rr" {
				routersDiffer(t, w.jobs)
			}
			if want == "" {
				return
			}
			first, _ := spell(w.firing, want)
			if first.IsZero() {
				t.Fatalf("%q did not fire; fired: %s", want, everFired(w.firing))
			}
			t.Logf("%q fired %v after the start; all: %s", want, first.Sub(w.began), everFired(w.firing))
		})
	}
}

// routersDiffer checks what the side by side shows.
func routersDiffer(t *testing.T, jobs map[string]status.Job) {
	t.Helper()
	kv, rr := jobs["kv-aware"].Recent.Cached, jobs["round-robin"].Recent.Cached
	if kv.V < rr.V+.1 {
		t.Errorf("the KV-aware router finds %v of the prompts cached, round-robin %v", kv, rr)
	}
}

func TestScenarioTellsWhatHappensWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scenario{about: "About."}
		s.targets = []demoTarget{{}}
		s = s.with(simulate.Incident{Kind: simulate.SlowPrefill, Factor: 4, At: time.Minute, For: 90 * time.Second})
		const plan = "About.\n\n  after 1m       prefill takes 4 times as long for 1m30s\n  after 2m30s    that is over\n\n"
		if got := s.plan(); got != plan {
			t.Errorf("the plan is %q, want %q", got, plan)
		}
		began := time.Now()
		var said []string
		s.tell(t.Context(), began, func(line string) { said = append(said, time.Since(began).String()+" "+line) })
		want := []string{
			"40s in 20s: prefill takes 4 times as long for 1m30s",
			"1m0s now: prefill takes 4 times as long for 1m30s",
			"2m30s now: that is over",
		}
		if !slices.Equal(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.tell(ctx, time.Now(), func(line string) { t.Errorf("said %q after the end", line) })
	})
}

func TestScenariosAreValid(t *testing.T) {
	for _, s := range scenarios() {
		for _, target := range s.targets {
			if err := target.options.Validate(); err != nil {
				t.Errorf("%s: %s: %v", s.name, target.name, err)
			}
		}
		if !strings.HasSuffix(s.about, ".") {
			t.Errorf("%s: %q is no sentence", s.name, s.about)
		}
	}
	if !bytes.Contains(demoConfig, []byte("TARGETS")) {
		t.Error("demo.yml has no place for the targets")
	}
}
