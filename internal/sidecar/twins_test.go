package sidecar_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// forgetful is a proxy whose cache loses the middle third of a share of the long histories that begin with a text which
// it has seen twice.
type forgetful struct {
	backend http.Handler

	mu    sync.Mutex
	share float64
	rng   *rand.Rand
	seen  map[string]int
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fields := map[string]json.RawMessage{}
	var messages []map[string]any
	if json.Unmarshal(body, &fields) == nil && json.Unmarshal(fields["messages"], &messages) == nil && f.forgets(messages) {
		fields["messages"], _ = json.Marshal(messages)
		body, _ = json.Marshal(fields)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	f.backend.ServeHTTP(w, r)
}

// forgets removes the middle third of the messages, if the cache has the history and fails.
func (f *forgetful) forgets(messages []map[string]any) bool {
	size := 0
	for _, m := range messages {
		size += len(m["content"].(string))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	beginning := messages[0]["content"].(string)
	beginning = beginning[:min(len(beginning), 200)]
	f.seen[beginning]++
	if f.seen[beginning] <= 2 || size < 1500 || f.rng.Float64() >= f.share {
		return false
	}
	at := 0
	for _, m := range messages {
		text := m["content"].(string)
		from, to := min(max(size/3-at, 0), len(text)), min(max(2*size/3-at, 0), len(text))
		m["content"] = text[:from] + text[to:]
		at += len(text)
	}
	return true
}

const twinsConfig = `
targets: [{name: sim, base_url: http://sim/v1, model: m}]
workloads: [{name: chat, recall: 99%, starters: 2}]
traffic: [{arrival: ARRIVAL}]
slos: [{sli: availability, objective: 99%}]
`

// TestTwinsNameAForgetfulCache: a cache loses the middle of half of the long histories, which makes 6 % of the answers
// wrong. At the default rate the prober raises the alarm, and says that answers are wrong more often when cached, also on the
// status page. The turns themselves then look uncached, because the cache does not have the rest of their histories.
func TestTwinsNameAForgetfulCache(t *testing.T) {
	if testing.Short() {
		t.Skip("learns from a thousand turns")
	}
	fast, _ := stage.Rules(t, strings.Replace(twinsConfig, "ARRIVAL", "{rate: 0.5}", 1))
	usual, _ := stage.Rules(t, strings.Replace(twinsConfig, "arrival: ARRIVAL", "targets: [sim]", 1))
	synctest.Test(t, func(t *testing.T) {
		proxy := &forgetful{backend: simulate.New(simulate.Options{Seed: 1, Model: "m"}), rng: rand.New(rand.NewPCG(1, 2)), seen: map[string]int{}}
		wire := simulate.NewPipes()
		defer simulate.Serve(wire, proxy)()
		s, err := sidecar.New(sidecar.Options{Logger: slog.New(slog.DiscardHandler), DrainTimeout: time.Second, Dial: wire.Dial})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(fast); err != nil {
			t.Fatal(err)
		}
		defer stage.Run(t, s)()
		value := func(name string) (v float64, where string) {
			for _, sample := range stage.SamplesOf(t, s, func(family string) bool { return family == name }) {
				v, where = sample.Value, sample.Labels.Get("reason")
			}
			return v, where
		}
		for usual, _ := value("synthetic_recall_usual_ratio"); !(usual > 0); usual, _ = value("synthetic_recall_usual_ratio") {
			time.Sleep(time.Minute)
		}
		if err := s.Apply(usual); err != nil {
			t.Fatal(err)
		}
		proxy.mu.Lock()
		proxy.share = 0.5
		proxy.mu.Unlock()
		begun, where := time.Now(), ""
		for ; where == "" && time.Since(begun) < 2*time.Hour; time.Sleep(15 * time.Second) {
			_, where = value("synthetic_recall_wrong_info")
		}
		t.Logf("after %v: %q", time.Since(begun), where)
		if where != "more often when cached" {
			t.Errorf("after %v: %q", time.Since(begun), where)
		}
		page := httptest.NewRecorder()
		s.Server().Handler.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/", nil))
		if text := page.Body.String(); !strings.Contains(text, "more answers than usual are wrong, more often when cached; of ") {
			t.Errorf("the status page does not say that answers are wrong more often when cached")
		}
	})
}
