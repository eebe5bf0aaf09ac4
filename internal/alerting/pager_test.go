package alerting

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/prometheus/rules"
)

// running starts a pager and returns the function that stops it.
func running(t *testing.T, p *Pager) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the pager ended with %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func mustNew(t *testing.T, o Options) *Pager {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPages sends an alert and its end over a real connection.
func TestPages(t *testing.T) {
	g, am := newGauge(t), newReceiver()
	p := mustNew(t, Options{
		Gatherer: g.registry, Rules: []byte(quick), Interval: time.Second,
		Alertmanagers:  []Alertmanager{{URL: serve(t, am)}},
		ExternalLabels: map[string]string{"cluster": "x"}, ExternalURL: "https://pager.example.org/",
		Instance: "here",
	})
	running(t, p)
	g.set(2)
	fired := am.await(t, "a firing alert", posted.firing)
	want := map[string]string{"alertname": "Up", "cluster": "x", "severity": "page", "job": "synthetic"}
	for k, v := range want {
		if fired.Labels[k] != v {
			t.Errorf("label %s is %q, want %q", k, fired.Labels[k], v)
		}
	}
	if len(fired.Labels) != len(want) {
		t.Errorf("got labels %v, want %v", fired.Labels, want)
	}
	if got := fired.Annotations["summary"]; got != "up at 2" {
		t.Errorf("the summary is %q", got)
	}
	if got := fired.GeneratorURL; got != "https://pager.example.org/" {
		t.Errorf("the alert comes from %q", got)
	}
	firing := func() bool {
		groups := p.Groups()
		if len(groups) != 1 {
			return false
		}
		rule := groups[0].AlertingRules()[0]
		return rule.State() == rules.StateFiring && len(rule.ActiveAlerts()) == 1
	}
	// The rule manager notifies before the evaluation has ended. Until the first evaluation has ended,
	// the state of the rule is unknown.
	for begin := time.Now(); !firing(); runtime.Gosched() {
		if time.Since(begin) > stuck {
			t.Fatalf("the rules do not show the alert: %v", p.Groups())
		}
	}
	g.set(0)
	over := am.await(t, "the end", func(p posted) bool { return !p.firing() })
	if !over.StartsAt.Equal(fired.StartsAt) {
		t.Errorf("the alert began at %v when it fired and at %v when it ended", fired.StartsAt, over.StartsAt)
	}
}
