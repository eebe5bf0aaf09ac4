package probe_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
)

// on calls a function when the first turn starts.
type on struct {
	recorder
	start func()
}

func (o *on) Observe(e probe.Event) {
	o.recorder.Observe(e)
	if _, ok := e.(probe.Start); ok {
		o.start()
	}
}

func TestCancelCutsTheTurn(t *testing.T) {
	for name, steps := range map[string][]step{
		"before the headers": nil,
		"in mid-stream":      {{0, sseHead + chunk(hello)}},
		"in an error body":   {{0, "HTTP/1.1 500 Oops\r\nContent-Length: 10\r\n\r\nabc"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, &scripted{steps: steps, hold: true})
			p, err := probe.New(options(s.addr))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			ctx, cancel := context.WithCancel(t.Context())
			sink := &on{start: func() { time.AfterFunc(50*time.Millisecond, cancel) }}
			sum := p.Converse(ctx, plan(3), sink)
			if len(sink.results) != 1 || sink.results[0].Outcome != probe.Canceled || sum.Outcome != probe.Canceled {
				t.Errorf("results %+v, conversation %+v", sink.results, sum)
			}
			if sum.Outcome.Failed() {
				t.Error("our own shutdown counts as a failure")
			}
		})
	}
}

func TestStopLetsTheTurnFinish(t *testing.T) {
	s := play(t, &scripted{steps: []step{{50 * time.Millisecond, closeHead + hello + finish + done}}})
	p, err := probe.New(options(s.addr))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	stop := make(chan struct{})
	pl := plan(3)
	pl.Stop = stop
	sink := &on{start: func() { close(stop) }}
	sum := p.Converse(t.Context(), pl, sink)
	if len(sink.results) != 1 || sink.results[0].Outcome != probe.Success {
		t.Errorf("the turn in flight ended as %+v", sink.results)
	}
	if sum.Outcome != probe.Canceled || sum.Turns != 1 {
		t.Errorf("conversation %+v, want canceled after 1 turn", sum)
	}
}

func TestContentCheck(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, closeHead + hello + world + finish + done}}})
	for name, tc := range map[string]struct {
		check string
		want  probe.Outcome
	}{
		"matches":     {"^Hello w", probe.Success},
		"matches not": {"^world", probe.ContentMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(s.addr)
			o.Workload.Check = tc.check
			if r := once(t, o); r.Outcome != tc.want {
				t.Errorf("outcome %s (%s), want %s", r.Outcome, r.Err, tc.want)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(hello + finish + done))
	}))
	defer server.Close()
	o := options("")
	o.Target.BaseURL = server.URL + "/v1"
	if r := once(t, o); r.Outcome != probe.TLSError || r.TTFT.OK {
		t.Errorf("an unknown authority gives %s (%s)", r.Outcome, r.Err)
	}
	o.Target.HTTP.TLSConfig.InsecureSkipVerify = true
	if r := once(t, o); r.Outcome != probe.Success || !r.Phases.TLS.OK {
		t.Errorf("without verification: %s (%s), phases %+v", r.Outcome, r.Err, r.Phases)
	}
}

func TestModelDiscovery(t *testing.T) {
	t.Setenv("PROBE_TEST_KEY", "sk-very-secret-0123456789")
	for name, tc := range map[string]struct{ script, model, err string }{
		"first of the list": {jsonResponse("200 OK", `{"data":[{"id":"a"},{"id":"b"}]}`), "a", ""},
		"empty list":        {jsonResponse("200 OK", `{"data":[]}`), "", "set the target's model"},
		"not found":         {jsonResponse("404 Not Found", `{"error":{"message":"no such page"}}`), "", "no such page"},
		"no name":           {jsonResponse("200 OK", `{"data":[{"id":""}]}`), "", "is invalid"},
		"control sequence":  {jsonResponse("200 OK", `{"data":[{"id":"\u001b[2J"}]}`), "", `\x1b[2J`},
		"the key":           {jsonResponse("200 OK", `{"data":[{"id":"for sk-very-secret-0123456789"}]}`), "", "is invalid"},
		"a name too long":   {jsonResponse("200 OK", `{"data":[{"id":"`+strings.Repeat("x", 300)+`"}]}`), "", "300 bytes"},
		"endless list":      {closeHead + `{"data":[` + strings.Repeat(`{"id":"`+strings.Repeat("x", 1<<10)+`"},`, 6<<10), "", "more than 4194304 bytes"},
		"endless error":     {"HTTP/1.1 500 Oops\r\n\r\n" + strings.Repeat("x", 6<<20), "", "more than 4194304 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, &scripted{steps: []step{{0, tc.script}}})
			o := options(s.addr)
			o.Target.Model, o.Target.Key = "", target.Credential{Env: "PROBE_TEST_KEY"}
			p, err := probe.New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			model, err := p.Model(t.Context())
			if err != nil && strings.Contains(err.Error(), "sk-very") {
				t.Errorf("the key is in %q", err)
			}
			if model != tc.model || (err == nil) != (tc.err == "") || (err != nil && !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("model %q, err %v", model, err)
			}
		})
	}
}

// TestLingeringBodyIsNoLag lets the server keep the body open after [DONE]. The next turn waits for
// the connection, and this wait must not count as lateness of the prober.
func TestLingeringBodyIsNoLag(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, sseHead + chunk(hello, finish, done)}, {20 * time.Millisecond, lastChunk}}})
	results, sum := converse(t.Context(), t, options(s.addr), 2)
	if len(results) != 2 || sum.Outcome != probe.Success {
		t.Fatalf("%d results, %+v", len(results), sum)
	}
	if wait := results[1].Scheduled.Sub(results[0].End); wait < 15*time.Millisecond {
		t.Errorf("the second turn was due %v after the first ended, before the connection was free", wait)
	}
}

// TestNamelessForWantOfOurOwn checks that no request without a model is sent if the prober itself
// failed to ask for the model. That holds for a conversation that began before the prober asked
// again, with success.
func TestNamelessForWantOfOurOwn(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, jsonResponse("200 OK", `{"data":[{"id":"m"}]}`)}}})
	o := options(s.addr)
	const all = 10
	o.Target.Model, o.Connections = "", bound.NewBudget(all)
	p, err := probe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	o.Connections.Take(all)
	if model, err := p.Model(t.Context()); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Fatalf("model %q, %v", model, err)
	}
	nothingIsSent := func(before int) {
		t.Helper()
		sink, nameless := &recorder{}, plan(1)
		nameless.Model = ""
		p.Converse(t.Context(), nameless, sink)
		if r := sink.results[0]; r.Outcome != probe.NotSent || !strings.Contains(r.Err, "the model is unknown") || s.count() != before {
			t.Errorf("outcome %s (%s), %d requests, want %d", r.Outcome, r.Err, s.count(), before)
		}
	}
	nothingIsSent(0)
	o.Connections.Return(all)
	if model, err := p.Model(t.Context()); err != nil || model != "m" {
		t.Fatalf("model %q, %v", model, err)
	}
	nothingIsSent(1)
}
