package probe_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/tools/testkit/tlstest"
)

// modelServer answers as a target.
func modelServer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write([]byte(hello + finish + done))
}

// TestRotation checks that a running prober uses new certificates and a new key without a reload.
func TestRotation(t *testing.T) {
	for name, change := range map[string]func(o *probe.Options, rotated target.Target){
		"a target, a connection per conversation": func(o *probe.Options, rotated target.Target) {
			o.Target = rotated
		},
		"a target, kept connections": func(o *probe.Options, rotated target.Target) {
			o.Target, o.Target.Connection = rotated, target.Reuse
		},
		"a target over a proxy": func(o *probe.Options, rotated target.Target) {
			proxy, err := url.Parse(tlstest.NewProxy(t))
			if err != nil {
				t.Fatal(err)
			}
			rotated.HTTP.ProxyConfig = promconfig.ProxyConfig{ProxyURL: promconfig.URL{URL: proxy}}
			o.Target, o.Target.Connection = rotated, target.Reuse
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := tlstest.NewGeneration(t, "hunter2")
			files := tlstest.NewFiles(t, now)
			server := tlstest.NewServer(t, now, http.HandlerFunc(modelServer))
			chat := play(t, &scripted{steps: []step{{0, closeHead + hello + finish + done}}})
			o := options(chat.addr)
			change(&o, target.Target{
				BaseURL: server.URL + "/v1", Model: "m", Key: target.Credential{File: files.Path("token")}, Connection: target.PerConversation,
				HTTP: promconfig.HTTPClientConfig{TLSConfig: files.Client()},
			})
			p, err := probe.New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			tlstest.Rotation(t, server, files, now, func() error { return twoTurns(t, p) })
		})
	}
}

// twoTurns runs a conversation and returns its failures.
func twoTurns(t *testing.T, p *probe.Prober) error {
	sink := &recorder{}
	c := workload.Conversation{Turns: 2, Opening: []workload.Message{{Role: "user", Content: "Hello there."}}, Followups: []string{"question 2"}}
	sum := p.Converse(t.Context(), probe.Plan{Conversation: c, Scheduled: time.Now(), Model: "m"}, sink)
	var outcomes []string
	for _, r := range sink.results {
		outcomes = append(outcomes, string(r.Outcome)+": "+r.Err)
	}
	if sum.Outcome != probe.Success {
		return errors.New(strings.Join(outcomes, "; "))
	}
	return nil
}
