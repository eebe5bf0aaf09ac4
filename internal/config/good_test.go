package config

import (
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
	"synthetic/internal/slo"
)

// minimalTarget returns the target of a file with only the address http://a:8000.
func minimalTarget(name string) target.Target {
	return target.Target{
		Name: name, BaseURL: "http://a:8000/v1",
		Connection: target.PerConversation, CacheSalt: target.SaltNone, Session: target.DefaultSession(),
	}
}

// minimalSpec returns the default workload.
func minimalSpec() workload.Spec {
	return workload.Spec{
		Name: "chat", TurnsMin: 3, TurnsMax: 5, PromptTokens: 500, FollowupTokens: 60,
		Seed: 1, MaxOutputTokens: 128, Users: workload.Users{ThinkMax: 2 * time.Second},
		Timeouts: workload.Timeouts{FirstToken: 30 * time.Second, Stall: 10 * time.Second, Total: 2 * time.Minute},
	}
}

// sameConfig compares configurations without their footprints; see TestFootprint.
var sameConfig = cmp.Options{
	cmpopts.IgnoreTypes(workload.Footprint{}), cmp.AllowUnexported(Alerting{}, alertmanager{}, Tracing{}),
	cmp.Comparer(func(a, b *time.Location) bool {
		return (a == nil) == (b == nil) && (a == nil || a.String() == b.String())
	}),
	cmp.Comparer(func(a, b promconfig.HTTPClientConfig) bool { return reflect.DeepEqual(a, b) }),
}

// minimalTraffic returns the default traffic.
func minimalTraffic() workload.Traffic {
	return workload.Traffic{
		Arrival:        workload.Arrival{Process: workload.Poisson, Rate: 0.033},
		BurstRate:      0.2,
		MaxConcurrency: 32,
	}
}

func TestMinimal(t *testing.T) {
	tg := minimalTarget("a-8000")
	objectives := []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: 30 * day},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: 30 * day},
		{Name: "availability", SLI: slo.Availability, Objective: 0.995, Window: 30 * day},
	}
	compare(t, "targets: [{base_url: http://a:8000}]", fleet.Fleet{
		Targets: []target.Target{tg},
		Jobs:    []fleet.Job{{Job: probe.Job{Target: tg, Workload: minimalSpec(), Traffic: minimalTraffic()}, Objectives: objectives, Policy: fleet.DefaultPolicy()}},
		SLOs:    objectives,
	})
}

func TestEveryKey(t *testing.T) {
	temperature := 0.0
	gateway := target.Target{
		Name: "gateway", BaseURL: "https://llm.example.com/openai/v1", Model: "llama",
		Key:        target.Credential{File: "testdata/good/key.txt"},
		Headers:    map[string]string{"x-tenant": "probe"},
		Connection: target.Reuse, CacheSalt: target.SaltConversation,
		Session: target.Session{Header: "X-Session-Id", Echo: []string{"X-Route"}, Worker: "x-worker"},
		Service: "chat", Labels: map[string]string{"team": "search"},
		HTTP: promconfig.HTTPClientConfig{EnableHTTP2: true, TLSConfig: promconfig.TLSConfig{
			CAFile: "testdata/good/ca.pem", CertFile: "testdata/good/cert.pem", KeyFile: "testdata/good/key.txt",
			ServerName: "inner", InsecureSkipVerify: true,
		}, ProxyConfig: promconfig.ProxyConfig{
			ProxyURL:           promconfig.URL{URL: &url.URL{Scheme: "http", Host: "proxy:3128"}},
			ProxyConnectHeader: promconfig.ProxyHeader{"X-Proxy": {"a"}},
		}, HTTPHeaders: &promconfig.Headers{Headers: map[string]promconfig.Header{
			"X-Token": {Files: []string{"testdata/good/key.txt"}},
		}}},
		ServedAs: []string{"azure/llama"},
		Extra: map[string]any{
			"ignore_eos": true, "stream_options": nil, "priority": 3, "top_p": 0.5, "stop": []any{"a", nil},
			"nested": map[string]any{"on": false, "date": "2024-01-01"},
		},
	}
	direct := minimalTarget("direct")
	direct.Key = target.Credential{Env: "LLM_API_KEY"}

	full := workload.Spec{
		Name: "full", TurnsMin: 2, TurnsMax: 7, PromptTokens: 3500, Starters: 0,
		FollowupTokens: 60, Seed: 1,
		Content: workload.Content{Followups: []string{"Why?", "How?"}, System: "Be brief."},
		Answers: workload.Answers{
			Temperature: &temperature, Check: "b+", ToolChoice: "required", ResponseSchema: map[string]any{"type": "object"},
			Tools: []workload.Tool{
				{Name: "get_weather", Description: "The weather of a city now.", Result: `{"celsius": 21}`, Parameters: map[string]any{
					"type": "object", "required": []any{"city"},
					"properties": map[string]any{"city": map[string]any{"type": "string", "minLength": 1}},
				}},
				{Name: "get_time", Result: "12:00", Parameters: map[string]any{"type": "object", "properties": map[string]any{}}},
			},
		},
		Users: workload.Users{
			ThinkMin: time.Second, ThinkMax: 3 * time.Second,
			Cancel: workload.Cancel{Share: 0.05, Min: time.Second, Max: 10 * time.Second},
		},
		Timeouts: workload.Timeouts{FirstToken: 20 * time.Second, Stall: 1500 * time.Millisecond, Total: 90 * time.Second},
	}
	replay := minimalSpec()
	replay.Name, replay.Trace.File = "replay", "testdata/good/conversations.jsonl"
	replay.TurnsMin, replay.TurnsMax, replay.PromptTokens, replay.FollowupTokens, replay.Starters = 0, 0, 0, 0, 0
	plain := minimalSpec()
	plain.Name = "plain"

	limited := workload.Traffic{
		Arrival:        workload.Arrival{Process: workload.Gamma, Rate: 1.5, Burstiness: 0.5},
		MaxConcurrency: 8, Budget: workload.TokenBudget{Tokens: 50_000_000, Per: day},
		BurstRate: 3,
	}
	closed := workload.Traffic{Arrival: workload.Arrival{Process: workload.Closed, Concurrency: 4}}
	constant := workload.Traffic{Arrival: workload.Arrival{Process: workload.Constant, Rate: 0.2}}

	objectives := []slo.Objective{
		{
			Name: "quick", SLI: slo.TTFT, Threshold: 1500 * time.Millisecond, Objective: 0.999, Window: 7 * day,
			Targets: []string{"direct"}, Workloads: []string{"full", "replay"}, Turns: []probe.TurnKind{probe.First},
		},
		{Name: "itl", SLI: slo.ITL, Threshold: 200 * time.Millisecond, Objective: 0.95, Window: 30 * day},
		{
			Name: "sized", SLI: slo.TTFT, Threshold: 300 * time.Millisecond, PerThousand: 60 * time.Millisecond,
			Objective: 0.99, Window: 30 * day, Uncached: slo.Tokens{From: 1000, Below: 4096},
		},
		{Name: "availability", SLI: slo.Availability, Objective: 0.995, Window: 30 * day},
	}
	policy := fleet.Policy{PageRatio: 2, PageFor: 10 * time.Minute, TicketRatio: 1.2, AcceptAfter: 7 * day}
	pacific, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	constant.Hours = workload.Hours{Location: pacific, Spans: []workload.Span{
		{Start: 7 * time.Hour, Length: 13 * time.Hour}, {Start: 4*day + 22*time.Hour + 30*time.Minute, Length: 30 * time.Minute}}}
	awake := limited
	awake.Hours = constant.Hours
	recalling := minimalSpec()
	recalling.Name, recalling.Recall = "recalling", 0.5
	agent := minimalSpec()
	agent.Name, agent.SystemTokens, agent.ContextTokens, agent.Starters, agent.MaxOutputTokens = "agent", 300, 9000, 2, 40
	agent.FollowupTokens, agent.TurnsMin, agent.TurnsMax = 500, 2, 60
	agent.Dists = workload.Dists{Followup: &workload.Dist{Mean: 500, Min: 500, Max: 500}}
	want := &Config{
		Tracing: &Tracing{
			URL: "https://collector.example.com:4318",
			client: client{HTTP: promconfig.HTTPClientConfig{
				BasicAuth: &promconfig.BasicAuth{Username: "me", PasswordFile: "testdata/good/key.txt"},
				TLSConfig: promconfig.TLSConfig{CAFile: "testdata/good/ca.pem"},
			}},
		},
		Fleet: fleet.Fleet{
			Targets:       []target.Target{gateway, direct},
			ServerMetrics: []serverside.Watched{{Target: gateway, URLs: []string{"https://worker.example.com:9090/metrics"}}},
			Jobs: []fleet.Job{
				{Job: probe.Job{Target: gateway, Workload: full, Traffic: awake}, Objectives: objectives[1:], ServerMetrics: true, Policy: policy, Location: pacific},
				{Job: probe.Job{Target: direct, Workload: full, Traffic: limited}, Objectives: objectives, Policy: policy},
				{Job: probe.Job{Target: direct, Workload: replay, Traffic: closed}, Objectives: objectives, Policy: policy},
				{Job: probe.Job{Target: gateway, Workload: plain, Traffic: constant}, Objectives: objectives[1:], ServerMetrics: true, Policy: policy, Location: pacific},
				{Job: probe.Job{Target: direct, Workload: recalling, Traffic: minimalTraffic()}, Objectives: objectives[1:], Policy: policy},
				{Job: probe.Job{Target: direct, Workload: agent, Traffic: minimalTraffic()}, Objectives: objectives[1:], Policy: policy},
			},
			SLOs: objectives,
		},
	}
	cfg, err := Load("testdata/good/every-key.yml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, cfg, sameConfig); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

// TestHTTPClient checks the settings of an http_client, and that decoding it twice gives equal targets:
// otherwise a reload would restart them.
func TestHTTPClient(t *testing.T) {
	const text = `targets: [{name: a, base_url: "https://a/v1", http_client: {
  basic_auth: {username: u, password_file: key.txt}, tls_config: {ca_file: ca.pem, min_version: TLS13},
  no_proxy: b, proxy_url: "http://proxy:3128"}}]`
	var read [2]target.Target
	for i := range read {
		cfg, err := Parse("synthetic.yml", []byte(text), "testdata/good")
		if err != nil {
			t.Fatal(err)
		}
		read[i] = cfg.Targets[0]
	}
	if exact := wire.Exact(read[0].HTTP); exact || !read[0].Equal(read[1]) {
		t.Errorf("exact %v, and %+v differs from %+v", exact, read[0], read[1])
	}
	c := read[0].HTTP
	if c.BasicAuth.PasswordFile != "testdata/good/key.txt" || c.TLSConfig.CAFile != "testdata/good/ca.pem" || c.TLSConfig.MinVersion == 0 || c.FollowRedirects || c.EnableHTTP2 {
		t.Errorf("got %v", c)
	}
}

// TestYielding checks that the default of an absent key never contradicts a present key.
func TestYielding(t *testing.T) {
	spec := minimalSpec()
	spec.TurnsMin, spec.TurnsMax = 2, 2
	spec.ThinkMin, spec.ThinkMax = 5*time.Second, 5*time.Second
	spec.Timeouts = workload.Timeouts{FirstToken: 8 * time.Second, Stall: 8 * time.Second, Total: 8 * time.Second}
	tg := minimalTarget("chat")
	compare(t, `
targets: [{name: chat, base_url: "http://a:8000/"}]
workloads: [{turns: {max: 2}, think_time: {min: 5s}, timeouts: {total: 8s}}]
slos: []
`, fleet.Fleet{
		Targets: []target.Target{tg},
		Jobs:    []fleet.Job{{Job: probe.Job{Target: tg, Workload: spec, Traffic: minimalTraffic()}, Policy: fleet.DefaultPolicy()}},
		SLOs:    []slo.Objective{},
	})
	spec = minimalSpec()
	spec.TurnsMin, spec.TurnsMax = 9, 9
	compare(t, `
targets: [{name: chat, base_url: "http://a:8000"}]
workloads: [{turns: {min: 9}}]
slos: []
`, fleet.Fleet{
		Targets: []target.Target{tg},
		Jobs:    []fleet.Job{{Job: probe.Job{Target: tg, Workload: spec, Traffic: minimalTraffic()}, Policy: fleet.DefaultPolicy()}},
		SLOs:    []slo.Objective{},
	})
}

// compare parses a text and compares the configuration, which has nothing but a fleet.
func compare(t *testing.T, text string, want fleet.Fleet) {
	t.Helper()
	cfg, err := Parse("synthetic.yml", []byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Config{Fleet: want}, cfg, sameConfig); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}
