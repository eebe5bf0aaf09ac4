package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
)

// TestBackendsAreBounded: a gateway that names ever new servers gets no series for each.
func TestBackendsAreBounded(t *testing.T) {
	var g gatewaySeries
	var peak bound.Peak
	for i := range 3 * maxBackends {
		g.observe(&probe.Result{Server: probe.Server{Gateway: probe.Gateway{Backend: fmt.Sprint("10.0.0.", i)}}}, time.Minute, &peak)
	}
	if len(g.turns) != maxBackends+1 || g.turns[otherBackend] != 2*maxBackends {
		t.Errorf("%d values of the label, %v turns of other; want %d and %d", len(g.turns), g.turns[otherBackend], maxBackends+1, 2*maxBackends)
	}
	if used, limit := peak.Level(); used <= limit || limit != maxBackends {
		t.Errorf("the limit shows %v of %v, want more than %d of that", used, limit, maxBackends)
	}
}

// TestFallbackSince: fallbacks belong together until none came for a silence; turns without a gateway change nothing.
func TestFallbackSince(t *testing.T) {
	var g gatewaySeries
	observe := func(after time.Duration, gateway probe.Gateway) {
		at := start.Add(after)
		g.observe(&probe.Result{Sent: at, End: at.Add(time.Second), Server: probe.Server{Gateway: gateway}}, 5*time.Minute, nil)
	}
	direct, fallback := probe.Gateway{Fallbacks: probe.Some(0)}, probe.Gateway{Fallbacks: probe.Some(2)}
	for _, step := range []struct {
		after   time.Duration
		gateway probe.Gateway
		want    time.Duration
	}{
		{0, fallback, 0}, {time.Minute, direct, 0}, {4 * time.Minute, fallback, 0},
		{10 * time.Minute, fallback, 10 * time.Minute}, {12 * time.Minute, probe.Gateway{}, 10 * time.Minute},
	} {
		observe(step.after, step.gateway)
		if got := g.since.Sub(start); got != step.want {
			t.Errorf("after %v the fallbacks began at %v, want %v", step.after, got, step.want)
		}
	}
	if g.fallbacks != 3 || len(g.turns) != 1 || g.turns[unknownBackend] != 4 {
		t.Errorf("%v turns by a fallback of %v, want 3 of 4", g.fallbacks, g.turns)
	}
}

// TestFallbackSinceOfTurnsAtOnce: the first fallback was sent before another one that ended earlier.
func TestFallbackSinceOfTurnsAtOnce(t *testing.T) {
	var g gatewaySeries
	for _, r := range []probe.Result{
		{Sent: start.Add(5 * time.Second), End: start.Add(6 * time.Second)}, {Sent: start, End: start.Add(9 * time.Second)},
	} {
		r.Gateway.Fallbacks = probe.Some(1)
		g.observe(&r, time.Minute, nil)
	}
	if !g.since.Equal(start) {
		t.Errorf("the fallbacks began at %v, want %v", g.since, start)
	}
}

// TestSessions checks that turns are counted by whether the worker changed, from 0 on.
func TestSessions(t *testing.T) {
	c := &clock{now: start}
	r := newTestRecorder(c, "east")
	took := func(session string, cached int) {
		turn := turn("east", probe.Followup, c.now, time.Second, time.Millisecond, 4)
		turn.Session, turn.PromptTokens, turn.CachedTokens = session, probe.Some(1000), probe.Some(cached)
		run(r, turn)
	}
	took("", 500)
	if text := exposed(t, r); !strings.Contains(text, `synthetic_session_turns_total{session="kept",target="east",workload="chat"} 0`) {
		t.Error("a session without a worker is counted, or the counter does not begin at 0")
	}
	took(probe.SessionKept, 900)
	took(probe.SessionKept, 800)
	took(probe.SessionLost, 100)
	text := exposed(t, r)
	for _, want := range []string{
		`synthetic_session_turns_total{session="kept",target="east",workload="chat"} 2`,
		`synthetic_session_turns_total{session="lost",target="east",workload="chat"} 1`,
		`synthetic_session_prompt_tokens_total{session="kept",target="east",workload="chat"} 2000`,
		`synthetic_session_cached_prompt_tokens_total{session="kept",target="east",workload="chat"} 1700`,
		`synthetic_session_cached_prompt_tokens_total{session="lost",target="east",workload="chat"} 100`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}
