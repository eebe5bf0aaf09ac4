package sidecar_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/promtest"
	"synthetic/tools/testkit/stage"
)

// replicaJobs is a configuration without targets.
const replicaJobs = `
workloads:
  - name: chat
    turns: {min: 3, max: 3}
    prompt_tokens: 200
    followups: {tokens: 20}
    max_output_tokens: 20
    think_time: {min: 100ms, max: 1s}
    timeouts: {first_token: 10s, stall: 5s, total: 20s}
traffic:
  - {targets: "*", workload: chat, arrival: {process: poisson, rate: %v}, max_concurrency: 20}
`

// direct returns a configuration that probes replicas, each with a conversation every 5 s.
func direct(indices ...int) string {
	text := "targets:\n"
	for _, i := range indices {
		text += fmt.Sprintf("  - {name: replica-%d, base_url: http://sim/replica-%d/v1, model: m, service: chat}\n", i, i)
	}
	return text + fmt.Sprintf(replicaJobs, 0.2)
}

// throughRouter returns a configuration that probes the router with a conversation a second.
func throughRouter() string {
	return "targets: [{name: gateway, base_url: http://sim/v1, model: m, service: chat, worker: auto}]\n" + fmt.Sprintf(replicaJobs, 1)
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// fleet is a sidecar that probes a simulated service in virtual time.
type fleet struct {
	t *testing.T
	*sidecar.Sidecar
}

// onFleet runs a test of a service in virtual time.
func onFleet(t *testing.T, h func() http.Handler, test func(*fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		wire := simulate.NewPipes()
		defer simulate.Serve(wire, h())()
		s, err := sidecar.New(sidecar.Options{Logger: slog.New(slog.DiscardHandler), DrainTimeout: time.Second, Dial: wire.Dial})
		if err != nil {
			t.Fatal(err)
		}
		defer stage.Run(t, s)()
		synctest.Wait() // Run reads what the first configuration writes
		test(&fleet{t, s})
	})
}

func (f *fleet) apply(text string) {
	f.t.Helper()
	cfg, err := config.Parse("synthetic.yml", []byte(text), ".")
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.Apply(cfg); err != nil {
		f.t.Fatal(err)
	}
}

// paging lists the replicas that page.
func (f *fleet) paging() (out []string) {
	for _, s := range f.scores() {
		if s.Value >= 1 {
			out = append(out, strings.TrimSpace(s.Labels.Get("target")+" "+s.Labels.Get("worker")))
		}
	}
	return out
}

func (f *fleet) scores() []promtest.Sample {
	return stage.SamplesOf(f.t, f.Sidecar, func(name string) bool { return name == metrics.SiblingPageScore })
}

// wantNoPage fails if a replica pages within a time.
func (f *fleet) wantNoPage(length time.Duration) {
	f.t.Helper()
	for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(min(stage.ScrapeEvery, time.Until(end))) {
		if p := f.paging(); p != nil {
			f.t.Fatalf("%v page", p)
		}
	}
}

// wantPage waits until only the wanted replica pages, and returns the time.
func (f *fleet) wantPage(want string, most time.Duration) time.Duration {
	f.t.Helper()
	for begin := time.Now(); ; time.Sleep(time.Second) {
		took := time.Since(begin)
		if p := f.paging(); p != nil {
			if !slices.Equal(p, []string{want}) {
				f.t.Fatalf("%v page", p)
			}
			return took
		}
		if took > most {
			f.t.Fatalf("nothing pages after %v", took)
		}
	}
}

func replicaOptions(i int) simulate.Options {
	return simulate.Options{Seed: uint64(i), Model: "m", Answer: simulate.Length{Median: 20},
		FirstToken: simulate.Delay{Median: 300 * time.Millisecond, Sigma: 0.4}, InterToken: simulate.Delay{Median: 30 * time.Millisecond, Sigma: 0.2}}
}

// slowed returns a replica that takes three times as long.
func slowed(o simulate.Options) simulate.Options {
	o.FirstToken.Median *= 3
	o.InterToken.Median *= 3
	return o
}

// TestOneOfSixteen: one of sixteen replicas is three times slower from the first turn on. It pages within
// a minute if each replica is probed, and within three minutes behind the router. A failing replica pages
// within five.
func TestOneOfSixteen(t *testing.T) {
	const bad = 5
	for _, tc := range []struct {
		name, config, want string
		fault              func(simulate.Options) simulate.Options
		most               time.Duration
	}{
		{"direct", direct(upTo(16)...), "replica-5", slowed, time.Minute},
		{"through the router", throughRouter(), "gateway replica-5", slowed, 3 * time.Minute},
		{"failing behind the router", throughRouter(), "gateway replica-5", func(o simulate.Options) simulate.Options {
			o.Incidents = []simulate.Incident{{Kind: simulate.ErrorStatus, Share: 1}}
			return o
		}, 5 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if testing.Short() && tc.most != time.Minute {
				t.Skip("the first case is enough with -short")
			}
			service := func() http.Handler {
				return simulate.NewService(16, func(i int) simulate.Options {
					if i == bad {
						return tc.fault(replicaOptions(i))
					}
					return replicaOptions(i)
				})
			}
			onFleet(t, service, func(f *fleet) {
				f.apply(tc.config)
				t.Logf("paged after %v", f.wantPage(tc.want, tc.most))
			})
		})
	}
}

// TestRollingIsNoPage replaces sixteen replicas within five minutes. Each new replica is three times
// slower in its first two minutes. No replica pages.
func TestRollingIsNoPage(t *testing.T) {
	if testing.Short() {
		t.Skip("probes sixteen replicas for half an hour")
	}
	var service *simulate.Service
	start := func() http.Handler {
		service = simulate.NewService(32, replicaOptions)
		return service
	}
	onFleet(t, start, func(f *fleet) {
		current := upTo(16)
		f.apply(direct(current...))
		f.wantNoPage(5 * time.Minute)
		for i := range 16 {
			current[i] = 16 + i
			service.Replica(16 + i).Update(func(o *simulate.Options) { *o = slowed(replicaOptions(16 + i)) })
			time.AfterFunc(2*time.Minute, func() {
				service.Replica(16 + i).Update(func(o *simulate.Options) { *o = replicaOptions(16 + i) })
			})
			f.apply(direct(current...))
			f.wantNoPage(18 * time.Second)
		}
		f.wantNoPage(15 * time.Minute)
		if n := len(f.scores()); n != 16 {
			t.Errorf("%d replicas have series", n)
		}
	})
}

// TestScalingLeavesNothing goes from 4 replicas to 40 and back, directly and behind the router. No series
// of a removed replica remains.
func TestScalingLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("probes forty replicas for half an hour")
	}
	for _, step := range []struct {
		name   string
		config func(n int) string
	}{
		{"direct", func(n int) string { return direct(upTo(n)...) }},
		{"through the router", func(int) string { return throughRouter() }},
	} {
		t.Run(step.name, func(t *testing.T) {
			var services [2]*simulate.Service
			var behind atomic.Int64
			start := func() http.Handler {
				services = [2]*simulate.Service{simulate.NewService(4, replicaOptions), simulate.NewService(40, replicaOptions)}
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { services[behind.Load()].ServeHTTP(w, r) })
			}
			onFleet(t, start, func(f *fleet) {
				for i, n := range []int{4, 40, 4} {
					behind.Store(int64(i % 2))
					f.apply(step.config(n))
					f.wantNoPage(7 * time.Minute)
				}
				f.wantNoPage(10 * time.Minute)
				if n := len(f.scores()); n != 4 {
					t.Errorf("%d replicas have series", n)
				}
				f.apply(strings.ReplaceAll(throughRouter(), ", service: chat, worker: auto", ""))
				f.wantNoPage(time.Minute)
				if n := len(f.scores()); n != 0 {
					t.Errorf("%d replicas have series after the last was removed", n)
				}
			})
		})
	}
}
