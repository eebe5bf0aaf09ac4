package dashboard_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/cause"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/watch"

	"synthetic/tools/testkit/dashboardtest"
)

const (
	scrapeEvery = 15 * time.Second
	scrapes     = 24
)

// script is a prober with scripted results.
type script struct {
	recorder *metrics.Recorder
	// sinks are the baselines and the recorder, which reads them.
	sinks fleet.Fanout
	now   time.Time
	turns int
}

// newScript returns a script with two targets and the objectives of example.
func newScript(start time.Time) *script {
	s := &script{now: start}
	now := func() time.Time { return s.now }
	baselines := watch.NewTracker(watch.TrackerOptions{Now: now})
	s.recorder = metrics.NewRecorder(metrics.Options{
		Now:             now,
		Baselines:       baselines,
		Build:           metrics.Build{Version: "1.0.0", Revision: "abc", Branch: "main", GoVersion: "go1.26", GOOS: "linux", GOARCH: "amd64"},
		TimestampSource: func() string { return "kernel" },
		Heartbeat:       func(probe.Key) time.Time { return s.now },
	})
	s.sinks = fleet.Fanout{baselines, s.recorder}
	for name, connection := range map[string]target.Connection{"vllm": target.Reuse, "proxy": target.PerConversation} {
		j := fleet.Job{Objectives: example().SLOs, ServerMetrics: true}
		j.Target = target.Target{Name: name, Model: "m", Connection: connection}
		j.Workload.Name, j.Traffic.Rate = "chat", 0.1
		s.sinks.Add(j)
	}
	s.recorder.SetReload(true, start)
	return s
}

// handler serves the recorder with the Go and process collectors, as the sidecar does.
func (s *script) handler() http.Handler {
	own := prometheus.NewRegistry()
	own.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s.recorder.Handler(promhttp.HandlerOpts{}, own)
}

// conversation records a conversation of two turns, of 5 seconds. The last turn of every fifth one fails, and every
// tenth one lasts 15 seconds.
func (s *script) conversation(target string) {
	s.turns++
	last := probe.Success
	if s.turns%5 == 0 {
		last = probe.Stall
	}
	lasts := 5 * time.Second
	if s.turns%10 == 3 {
		lasts *= 3
	}
	s.sinks.Observe(probe.ConversationStart{Target: target, Workload: "chat"})
	s.turn(target, probe.First, probe.Success)
	s.turn(target, probe.Followup, last)
	s.sinks.Observe(probe.Conversation{
		Target: target, Workload: "chat", Scheduled: s.now.Add(-lasts), End: s.now,
		Outcome: last, Turns: 2,
	})
}

// turn records a turn that ended now. Some turns have a slow first token.
func (s *script) turn(target string, kind probe.TurnKind, outcome probe.Outcome) {
	s.sinks.Observe(probe.Start{Target: target, Workload: "chat", Kind: kind})
	ttft := time.Duration(100+s.turns%20*60) * time.Millisecond
	sent := s.now.Add(-2 * time.Second)
	other := ""
	if s.turns%10 == 9 {
		other = "other"
	}
	s.sinks.Observe(probe.Result{
		Target: target, Workload: "chat", Kind: kind, Outcome: outcome, Sent: sent, End: s.now,
		TTFT: probe.Some(ttft), TPOT: probe.Some(20 * time.Millisecond),
		Server: probe.Server{AnsweredBy: other, Gateway: probe.Gateway{Overhead: probe.Some(10 * time.Millisecond), Backend: "10.0.0.7:8000"}},
		Asked:  probe.Asked{TraceID: fmt.Sprintf("%032x", s.turns), Scheduled: sent.Add(-time.Millisecond)},
		Timing: probe.Timing{Phases: probe.Phases{
			DNS: probe.Some(time.Millisecond), Connect: probe.Some(time.Millisecond), TLS: probe.Some(3 * time.Millisecond),
			Headers: probe.Some(ttft / 2), FirstEvent: probe.Some(ttft),
		}, AnswerTTFT: probe.Some(ttft + time.Millisecond), Gaps: []time.Duration{20 * time.Millisecond, 0, 30 * time.Millisecond}, Coalesced: 1, Events: 4, ReadLagMax: 50 * time.Microsecond, Kernel: true},
		Tokens: probe.Tokens{PromptTokens: probe.Some(400), CachedTokens: probe.Some(300), OutputTokens: probe.Some(4)},
		Texts:  probe.Texts{FinishReason: "stop"},
	})
}

// loaded is the state of a server that exports everything.
var loaded = serverside.State{
	Running: probe.Some(4.0), Waiting: probe.Some(1.0), KVUse: probe.Some(0.5), TokenAge: probe.Some(time.Duration(0)), Preemptions: probe.Some(1.0),
}

// fill stores the script with a scrape of each instance every 15 seconds, and returns the time of the last.
func fill(t *testing.T, store *dashboardtest.Store, start time.Time, instances ...string) time.Time {
	t.Helper()
	s := newScript(start)
	h := s.handler()
	for range scrapes {
		for _, instance := range instances {
			if err := store.Scrape(h, instance, s.now); err != nil {
				t.Fatal(err)
			}
		}
		s.now = s.now.Add(scrapeEvery)
		s.conversation("vllm")
		s.conversation("proxy")
		s.recorder.ServerRead("vllm", serverside.Reading{Complete: true, State: loaded})
		s.recorder.ServerRead("proxy", serverside.Reading{Complete: true, State: loaded})
		s.sinks.Observe(probe.Skip{Target: "vllm", Workload: "chat", Reason: "budget"})
	}
	return s.now.Add(-scrapeEvery)
}

// remember stores series that exist only after hours or days or for few targets, and a page, from another
// prober.
func remember(t *testing.T, store *dashboardtest.Store, at time.Time) {
	t.Helper()
	put := func(value float64, labels ...string) {
		t.Helper()
		if err := store.Put(at, value, append(labels, "target", "vllm", "workload", "chat", "instance", "prober-1:9900")...); err != nil {
			t.Fatal(err)
		}
	}
	wrong := []string{"__name__", metrics.RecallTurns, "result", "wrong", "cached", "unknown", "depth", "unknown", "target", "vllm", "workload", "chat", "instance", "prober-1:9900"}
	for i, ago := range []time.Duration{time.Minute, 0} {
		if err := store.Put(at.Add(-ago), float64(i), wrong...); err != nil {
			t.Fatal(err)
		}
	}
	ago := float64(at.Add(-5 * time.Minute).Unix())
	for _, series := range [][]string{
		{"synthetic_session_turns_total", "session", "kept"}, {"synthetic_session_prompt_tokens_total", "session", "kept"}, {"synthetic_session_cached_prompt_tokens_total", "session", "kept"},
		{metrics.PagerEvaluations}, {metrics.PagerFailures}, {"synthetic_turn_log_dropped_total"},
		{"vllm:prefix_cache_hits_total", "job", "vllm"}, {"vllm:prefix_cache_queries_total", "job", "vllm"}, {"vllm:num_preemptions_total", "job", "vllm"},
		{"vllm:num_requests_running", "job", "vllm"}, {"vllm:num_requests_waiting", "job", "vllm"}, {"vllm:kv_cache_usage_perc", "job", "vllm"},
		{"synthetic_discovered_targets", "group", "pods"}, {"synthetic_discovery_left_out", "group", "pods", "reason", "host"},
		{"synthetic_discovery_last_success_timestamp_seconds", "group", "pods"}, {metrics.DiscoveryFailing, "group", "pods"},
		{"synthetic_bound_used", "bound", "connections"}, {"synthetic_bound_limit", "bound", "connections"}, {metrics.PagerLastEvaluation},
		{"target_workload_slo:synthetic_slo_budget_remaining:ratio", "slo", "tpot"},
	} {
		for i, ago := range []time.Duration{time.Minute, 0} {
			if err := store.Put(at.Add(-ago), float64(i+1), append([]string{"__name__"}, append(series, "target", "vllm", "workload", "chat", "instance", "prober-1:9900")...)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(1, "__name__", "ALERTS", "alertname", "SyntheticRegression", "alertstate", "firing", "severity", "page")
	put(ago, "__name__", "ALERTS_FOR_STATE", "alertname", "SyntheticRegression", "severity", "page")
	for name, value := range map[string]float64{metrics.PagerStalled: 0, metrics.PagerUndelivered: 0} {
		put(value, "__name__", name, metrics.LabelAlertmanager, "am")
	}
	for _, name := range []string{"synthetic_conversations_canceled_total", "synthetic_conversations_shortened_total", "synthetic_bursts_total", "synthetic_other_requests_total", "synthetic_turn_own_faults_total", "synthetic_gateway_retries_total", metrics.GatewayFallbacks} {
		for i, ago := range []time.Duration{time.Minute, 0} {
			if err := store.Put(at.Add(-ago), float64(i), "__name__", name, "target", "vllm", "workload", "chat", "instance", "prober-1:9900", "reason", "late", "purpose", "models"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, turn := range probe.TurnKinds() {
		put(0.8, "__name__", metrics.CachedBaseline, "turn", string(turn))
		for _, part := range cause.Parts() {
			put(0.4, "__name__", metrics.Excess, "turn", string(turn), "part", string(part))
		}
		for _, signal := range fleet.Signals() {
			put(0.3, "__name__", metrics.Baseline, "turn", string(turn), "signal", string(signal))
		}
	}
	for _, signal := range fleet.Signals() {
		for name, value := range map[string]float64{
			metrics.RegressionRatio: 2, metrics.RegressionLimit: 1.6, metrics.PageScore: 1.2, metrics.TicketScore: 3,
			metrics.RegressionSince: ago, metrics.Detectable: 1.4,
		} {
			put(value, "__name__", name, "signal", string(signal))
		}
	}
}

// TestPanelsHaveData runs every query on a storage with scrapes of the recorder. A panel that is empty here
// is always empty.
func TestPanelsHaveData(t *testing.T) {
	for name, format := range map[string]string{
		"classic buckets only":       dashboardtest.Text,
		"native and classic buckets": dashboardtest.Protobuf,
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			store := dashboardtest.Open(t, format)
			// What joins series must bear that two probers have them.
			end := fill(t, store, start, "prober-0:9900", "prober-1:9900")
			remember(t, store, end)
			empty, err := dashboardtest.Empty(t.Context(), store, generate(t, example()), start, end)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range empty {
				t.Errorf("no data: %s", q)
			}
		})
	}
}

// TestEmptyFindsMissingData: TestPanelsHaveData can fail.
func TestEmptyFindsMissingData(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ds := generate(t, example())
	all, err := dashboardtest.Queries(ds)
	if err != nil {
		t.Fatal(err)
	}
	empty, err := dashboardtest.Empty(t.Context(), dashboardtest.Open(t, dashboardtest.Text), ds, start, start.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	// The overview has a row for a missing prober and a row for missing rules.
	if len(empty) != len(all)-1 {
		t.Errorf("%d of %d queries found data in an empty storage", len(all)-len(empty), len(all))
	}
}
