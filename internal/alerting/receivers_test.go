package alerting

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	amconfig "github.com/prometheus/alertmanager/config"

	"synthetic/internal/alerting/receivers"
)

// hook is a webhook that records its messages.
type hook struct {
	*httptest.Server
	mu       sync.Mutex
	messages []hookMessage
	received chan struct{}
}

type hookMessage struct {
	Status, Receiver, GroupKey, ExternalURL string
	Alerts                                  []struct {
		Status              string
		Labels, Annotations map[string]string
		GeneratorURL        string
	}
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{received: make(chan struct{}, 100)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var m hookMessage
		if err == nil {
			err = json.Unmarshal(body, &m)
		}
		if err != nil {
			t.Errorf("not a message: %v: %s", err, body)
		}
		h.mu.Lock()
		h.messages = append(h.messages, m)
		h.mu.Unlock()
		h.received <- struct{}{}
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) all() []hookMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]hookMessage(nil), h.messages...)
}

// await waits for the nth message.
func (h *hook) await(t *testing.T, n int) hookMessage {
	t.Helper()
	for timeout := time.After(time.Minute); ; {
		if all := h.all(); len(all) >= n {
			return all[n-1]
		}
		select {
		case <-h.received:
		case <-timeout:
			t.Fatalf("no message %d; got %+v", n, h.all())
		}
	}
}

// TestEvaluates: the heartbeat stops when the pager stalls or has not evaluated for minutes.
func TestEvaluates(t *testing.T) {
	g, h := newGauge(t), newHook(t)
	g.set(1)
	p := mustNew(t, Options{
		Gatherer: g.registry, RuleFiles: []RuleFile{{Name: "quick", Data: []byte(quick)}}, Interval: time.Second, Receivers: toHook(t, h.URL),
	})
	if p.evaluates() {
		t.Error("a pager evaluates before it runs")
	}
	stop := running(t, p)
	h.await(t, 1)
	for begin := time.Now(); !p.evaluates(); runtime.Gosched() { // the message may come before the evaluation has ended
		if time.Since(begin) > stuck {
			t.Fatal("the running pager does not evaluate")
		}
	}
	stop()
	now := p.options.Now
	p.options.Now = func() time.Time { return now().Add(staleAfter + time.Minute) }
	p.clock.wall = now
	if p.evaluates() {
		t.Error("a pager evaluates six minutes after its last evaluation")
	}
	p.options.Now = now
	reason := errNoSpace
	if p.stalled.Store(&reason); p.evaluates() {
		t.Error("a stalled pager evaluates")
	}
}

// toHook is a configuration with one webhook.
func toHook(t *testing.T, url string) *receivers.Options {
	t.Helper()
	c, err := amconfig.Load(`
route: {receiver: team, group_by: [job], group_wait: 0s, group_interval: 1s}
receivers: [{name: team, webhook_configs: [{url: "` + url + `"}]}]
`)
	if err != nil {
		t.Fatal(err)
	}
	return &receivers.Options{Config: c}
}

// TestReceiverWithoutAlertmanager: one incident is one message at its start and one at its end, also
// across a restart of the pager.
func TestReceiverWithoutAlertmanager(t *testing.T) {
	g, h, dir := newGauge(t), newHook(t), t.TempDir()
	options := func() Options {
		return Options{
			Gatherer: g.registry, RuleFiles: []RuleFile{{Name: "quick", Data: []byte(quick)}}, Interval: time.Second,
			Dir: dir, Receivers: toHook(t, h.URL), ExternalURL: "http://synthetic.example.com/",
		}
	}
	g.set(1)
	stop := running(t, mustNew(t, options()))
	m := h.await(t, 1)
	if m.Status != "firing" || len(m.Alerts) != 1 || m.Alerts[0].Labels["alertname"] != "Up" ||
		m.Alerts[0].Annotations["summary"] != "up at 1" || m.Alerts[0].GeneratorURL != "http://synthetic.example.com/alerts" {
		t.Errorf("the first message is %+v", m)
	}
	stop()
	stop = running(t, mustNew(t, options()))
	g.set(0)
	if m := h.await(t, 2); m.Status != "resolved" {
		t.Errorf("the second message is %+v, not the end", m)
	}
	stop()
	if n := len(h.all()); n != 2 {
		t.Errorf("%d messages instead of 2: %+v", n, h.all())
	}
}
