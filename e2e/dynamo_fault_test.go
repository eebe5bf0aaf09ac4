//go:build e2e

package e2e

import (
	"strings"
	"syscall"
	"testing"
)

// long makes a turn take about ten seconds, long enough for a fault in its middle.
var long = []string{"--turns=1", "--prompt-tokens=100", "--max-output-tokens=400"}

// TestDynamoFrontendKilled: the stream breaks, and then nothing listens.
func TestDynamoFrontendKilled(t *testing.T) {
	d := startDynamo(t, "round-robin")
	c := converse(t, d.api(), long...)
	d.awaitTokens(t, 5)
	d.frontend.kill()
	wantFailure(t, "in flight", c.wait(t), "truncated")
	wantFailure(t, "next", converse(t, d.api(), long...).wait(t), "connect_error")
}

// TestDynamoWorkersKilled: the frontend reports an error inside the stream, ends the stream
// normally, and still reports itself as healthy.
func TestDynamoWorkersKilled(t *testing.T) {
	d := startDynamo(t, "round-robin")
	c := converse(t, d.api(), long...)
	d.awaitTokens(t, 5)
	d.workers.kill()
	wantFailure(t, "in flight", c.wait(t), "error_event")
	wantHealthy(t, d)
	wantFailure(t, "next", converse(t, d.api(), long...).wait(t), "http_5xx")
}

// TestDynamoWorkersWedged stops the workers, like a stuck GPU. The frontend's health check
// does not notice; the conversation does. The timeouts sum to less than the 10 s after which
// the frontend forgets a worker that does not renew its lease: from then on it answers 404.
func TestDynamoWorkersWedged(t *testing.T) {
	d := startDynamo(t, "round-robin")
	c := converse(t, d.api(), append([]string{"--timeout=4s"}, long...)...)
	d.awaitTokens(t, 5)
	d.workers.signal(t, syscall.SIGSTOP)
	wantFailure(t, "in flight", c.wait(t), "stall")
	wantHealthy(t, d)
	r := converse(t, d.api(), append([]string{"--timeout=2s"}, long...)...).wait(t)
	wantFailure(t, "next", r, "timeout_first_token")
	if got := r.Turns[0].TTFT; got != nil {
		t.Errorf("TTFT %v s of a turn without a token, want null", *got)
	}
	d.workers.signal(t, syscall.SIGCONT)
	checkSuccess(t, "after the workers went on", converse(t, d.api(), "--turns=1").wait(t).Turns[0])
}

func wantHealthy(t *testing.T, d *dynamo) {
	t.Helper()
	body, err := get(t.Context(), d.root+"/health")
	if err != nil {
		t.Errorf("the frontend's health check reports the fault: %v", err)
	} else if !strings.Contains(string(body), `"status":"healthy"`) {
		t.Errorf("the frontend's health is %.100s", body)
	}
}

func wantFailure(t *testing.T, name string, r answer, outcome string) {
	t.Helper()
	if len(r.Turns) != 1 {
		t.Fatalf("the turn %s: %d turns in the report, want 1", name, len(r.Turns))
	}
	if got := r.Turns[0]; got.Outcome != outcome {
		t.Errorf("the turn %s: outcome %q (%s), want %q", name, got.Outcome, got.Error, outcome)
	}
	t.Logf("the turn %s: %s (%s)", name, r.Turns[0].Outcome, r.Turns[0].Error)
	if r.Turns[0].Error == "" {
		t.Errorf("the turn %s: no error text for the outcome %q", name, outcome)
	}
}
