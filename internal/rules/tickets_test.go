package rules_test

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
)

// TestWhatAFallbackSays: the ticket says since when the fallback answers, and which server that is. A page
// about slow turns names the fallback as a cause.
func TestWhatAFallbackSays(t *testing.T) {
	h := newHouse(t, usual(), 1)
	behaving(routed(0))(h)
	h.scrapes(time.Hour)
	behaving(with(routed(1), func(r *probe.Result) { r.TTFT = probe.Some(9 * time.Second) }))(h)
	h.run(15 * time.Minute)
	said := map[string]string{}
	for _, a := range h.Alerts() {
		for _, key := range []string{"summary", "description"} {
			said[a.Labels.Get("alertname")+" "+key] = a.Annotations.Get(key)
		}
	}
	for key, want := range map[string]string{
		rules.AlertGatewayFallback + " summary":     "a/chat: the primary has been replaced by its fallback since 2027-01-15 09:01:00 +0000 UTC",
		rules.AlertGatewayFallback + " description": "The gateway answers 100% of the turns with another model than the requested one. 10.0.0.7:8000 answers most of them. Check the primary behind the gateway.",
		rules.AlertSLOFastBurn + " summary":         "a/chat: 100 % of turns have no first token after 1 s since 09:01 UTC; the gateway answers with its fallback",
	} {
		if said[key] != want {
			t.Errorf("%s reads %q, want %q", key, said[key], want)
		}
	}
}

// TestWhatOddAnswersSay: an unknown finish reason, and a context that the server cuts, are a ticket each, although
// the turns succeed. It has the reason and both counts of tokens, and comes once, not each day.
func TestWhatOddAnswersSay(t *testing.T) {
	h := newHouse(t, usual(), 1)
	behaving(ok)(h)
	h.scrapes(time.Hour)
	odd := with(ok, func(r *probe.Result) {
		r.FinishReason, r.PromptTokens, r.PreviousPrompt = "tired", probe.Some(833), 4029
	})
	behaving(oneIn(20, odd, ok))(h)
	h.run(90 * time.Minute)
	said := map[string]string{}
	for _, a := range h.Alerts() {
		said[a.Labels.Get("alertname")+" "+a.Labels.Get("scope")] = a.Annotations.Get("summary")
	}
	for key, want := range map[string]string{
		"finish_reason": "a/chat: answers end with the finish reason tired, which is unknown and counts as a success",
		"context":       "a/chat: the server cuts the history: a prompt of 4029 tokens had 833 in the next turn, with more text",
	} {
		if got := said[rules.AlertOddAnswers+" "+key]; got != want {
			t.Errorf("%s reads %q, want %q", key, got, want)
		}
	}
	if len(said) != 2 {
		t.Errorf("alerts: %v", said)
	}
}

// TestCutContextNamesOneProber: the counts of a cut context are those of the prober that saw the largest cut.
func TestCutContextNamesOneProber(t *testing.T) {
	s := newScene(t, of("a"))
	s.job("y", "a")
	job := []string{"target", "a", "workload", "chat"}
	for n := range 4 {
		for instance, prompts := range map[string][2]float64{"x": {9000, 2000}, "y": {4000, 3900}} {
			s.set(instance, metrics.ContextCut, float64(n), job...)
			s.set(instance, "synthetic_context_cut_previous_prompt_tokens", prompts[0], job...)
			s.set(instance, "synthetic_context_cut_prompt_tokens", prompts[1], job...)
		}
		s.pass(every)
	}
	want := "a/chat: the server cuts the history: a prompt of 9000 tokens had 2000 in the next turn, with more text"
	if got := s.said(rules.AlertOddAnswers).Get("summary"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
