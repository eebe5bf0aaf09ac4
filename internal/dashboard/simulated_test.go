package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/dashboardtest"
)

// TestPanelsHaveDataOfAProber fills the storage with measurements of a simulated deployment over real
// connections. Only the times of the scrapes are simulated, so that minutes pass in a second.
func TestPanelsHaveDataOfAProber(t *testing.T) {
	engine := simulate.New(simulate.Options{
		Seed:       1,
		FirstToken: simulate.Delay{Median: 2 * time.Millisecond},
		InterToken: simulate.Delay{Median: time.Millisecond},
		Answer:     simulate.Length{Median: 8},
		Incidents:  []simulate.Incident{{Kind: simulate.BusyStatus, Share: 0.1}},
	})
	deployment := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Litellm-Overhead-Duration-Ms", "17.7") // as a gateway in front of it
		engine.ServeHTTP(w, r)
	}))
	defer deployment.Close()

	start := time.Now()
	s := newScript(start)
	spec := workload.Spec{
		Name: "chat", TurnsMin: 2, TurnsMax: 3, PromptTokens: 200, FollowupTokens: 20, Starters: 2, Seed: 1, MaxOutputTokens: 16,
		Timeouts: workload.Timeouts{FirstToken: 5 * time.Second, Stall: 5 * time.Second, Total: 20 * time.Second},
	}
	source, err := workload.NewSource(spec, 0)
	if err != nil {
		t.Fatal(err)
	}
	prober, err := probe.New(probe.Options{
		Target:   target.Target{Name: "vllm", BaseURL: deployment.URL + "/v1", Model: "simulated-chat", Connection: target.PerConversation},
		Workload: spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer prober.Close()

	store, h := dashboardtest.Open(t, dashboardtest.Text), s.handler()
	for i := range scrapes {
		if err := store.Scrape(h, "prober-0:9900", start.Add(time.Duration(i)*scrapeEvery)); err != nil {
			t.Fatal(err)
		}
		s.now = time.Now()
		s.recorder.ServerRead("vllm", serverside.Reading{Complete: true, State: loaded})
		s.sinks.Observe(probe.ConversationStart{Target: "vllm", Workload: "chat"})
		s.sinks.Observe(prober.Converse(t.Context(), probe.Plan{
			Conversation: source.Next(), ID: strconv.Itoa(i), Scheduled: s.now, Model: "simulated-chat",
		}, s.sinks))
	}

	end := start.Add((scrapes - 1) * scrapeEvery)
	remember(t, store, end)
	empty, err := dashboardtest.Empty(t.Context(), store, generate(t, example()), start, end)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range without(empty, dashboardtest.MayBeEmpty()) {
		t.Errorf("no data: %s", q)
	}
}

func TestFewPanelsMayBeEmpty(t *testing.T) {
	allowed := dashboardtest.MayBeEmpty()
	if len(allowed) > 7 {
		t.Errorf("%d panels may be empty, at most 7 should", len(allowed))
	}
	queries, err := dashboardtest.Queries(generate(t, example()))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		delete(allowed, q.Panel)
	}
	for title := range allowed {
		t.Errorf("no panel is titled %q", title)
	}
}

func without(queries []dashboardtest.Query, titles map[string]string) []dashboardtest.Query {
	var out []dashboardtest.Query
	for _, q := range queries {
		if _, ok := titles[q.Panel]; !ok {
			out = append(out, q)
		}
	}
	return out
}
