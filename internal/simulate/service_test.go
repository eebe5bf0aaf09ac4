package simulate

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"synthetic/internal/simulate/cluster"
)

// serveReplicas serves n replicas over TCP.
func serveReplicas(t *testing.T, n int, o Options) client {
	t.Helper()
	all, err := o.Replicas(n)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(NewService(n, func(i int) Options { return all[i] }))
	t.Cleanup(s.Close)
	return client{s.Client(), s.URL}
}

// TestRouterUsesReplicasInTurn also checks that an incident affects only its replica.
func TestRouterUsesReplicasInTurn(t *testing.T) {
	o := quick
	o.Incidents = []Incident{{Kind: ErrorStatus, Share: 1, Workers: []int{1}}}
	c := serveReplicas(t, 3, o)
	texts, ids := map[string]bool{}, map[string]bool{}
	for _, want := range []struct {
		worker string
		status int
	}{{"replica-0", 200}, {"replica-1", 500}, {"replica-2", 200}, {"replica-0", 200}} {
		resp := c.post(t, t.Context(), `{"model":"simulated-chat","messages":[{"role":"user","content":"hi"}]}`)
		if got := resp.Header.Get(WorkerHeader); got != want.worker || resp.StatusCode != want.status {
			t.Errorf("%q answers with %s, want %s with %d", got, resp.Status, want.worker, want.status)
		}
		if want.status != http.StatusOK {
			continue
		}
		var answer struct {
			ID      string
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		texts[answer.Choices[0].Message.Content], ids[answer.ID] = true, true
	}
	if len(texts) != 1 || len(ids) != 3 {
		t.Errorf("replicas of one model gave %d texts and %d IDs, want 1 and 3", len(texts), len(ids))
	}
}

// TestReplicasHaveMetrics checks that the router has no metrics, because each scrape of it would reach
// another replica.
func TestReplicasHaveMetrics(t *testing.T) {
	c := serveReplicas(t, 2, quick)
	if status, body := c.get(t, "/metrics"); status != http.StatusNotFound || !strings.Contains(body, "/replica-0/metrics") {
		t.Errorf("metrics of the router: status %d, %s", status, body)
	}
	if status, body := c.get(t, "/replica-1/metrics"); status != http.StatusOK || !strings.Contains(body, "vllm:") {
		t.Errorf("metrics of a replica: status %d, %.100s", status, body)
	}
}

func TestReplicasOfAPreset(t *testing.T) {
	o := Options{Cluster: preset(t, "phase0"), Incidents: []Incident{
		{Kind: cluster.SlowDecode, Factor: 3, Workers: []int{2}}, {Kind: cluster.Hang},
	}}
	all, err := o.Replicas(3)
	if err != nil {
		t.Fatal(err)
	}
	seeds := map[uint64]bool{}
	for i, r := range all {
		seeds[r.Cluster.Seed] = true
		if want := 1 + i/2; len(r.Incidents) != want {
			t.Errorf("replica %d has the incidents %v, want %d", i, r.Incidents, want)
		}
	}
	if len(seeds) != 3 {
		t.Errorf("the clusters have %d seeds, want 3", len(seeds))
	}
}

func TestBadReplicas(t *testing.T) {
	cut := Incident{Kind: CutStream, Share: 1, Workers: []int{0}}
	for want, i := range map[string]Incident{
		"incident cut: there is no replica 2: give 0 to 1":            {Kind: CutStream, Share: 1, Workers: []int{2}},
		"incident 2 (slow_decode): it needs a cluster: set one":       {Kind: cluster.SlowDecode, Factor: 3, Workers: []int{1}},
		"incident 2 (cut): its share of the requests is 2: give a nu": {Kind: CutStream, Share: 2},
	} {
		if _, err := (Options{Incidents: []Incident{cut, i}}).Replicas(2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", i, err, want)
		}
	}
}
