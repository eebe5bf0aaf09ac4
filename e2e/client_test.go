//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"time"
)

// answer is the documented output of "synthetic probe --output=json". It is defined again
// on purpose: renaming a field breaks users.
type answer struct {
	Model   string `json:"model"`
	Outcome string `json:"outcome"`
	Turns   []turn `json:"turns"`
}

type turn struct {
	Outcome      string    `json:"outcome"`
	Error        string    `json:"error"`
	Scheduled    time.Time `json:"scheduled"`
	Sent         time.Time `json:"at"`
	TTFT         *float64  `json:"ttft_seconds"`
	AnswerTTFT   *float64  `json:"answer_ttft_seconds"`
	TPOT         *float64  `json:"tpot_seconds"`
	TPOTUnknown  string    `json:"tpot_unknown"`
	ITLp50       *float64  `json:"itl_p50_seconds"`
	Duration     float64   `json:"duration_seconds"`
	PromptTokens *int      `json:"prompt_tokens"`
	CachedTokens *int      `json:"cached_prompt_tokens"`
	OutputTokens *int      `json:"output_tokens"`
	TraceID      string    `json:"trace_id"`
	Connect      *float64  `json:"connect_seconds"`
	FirstEvent   *float64  `json:"first_event_seconds"`
	Reused       bool      `json:"connection_reused"`
}

// conversation is a running "synthetic probe".
type conversation struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

// converse starts a conversation with the server at baseURL.
func converse(t *testing.T, baseURL string, flags ...string) *conversation {
	t.Helper()
	c := &conversation{}
	args := []string{"probe", "--base-url", baseURL, "--model", "tiny", "--output=json"}
	c.cmd = exec.CommandContext(t.Context(), binary(t), append(args, flags...)...)
	c.cmd.Stdout, c.cmd.Stderr = &c.stdout, &c.stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatalf("starting synthetic: %v", err)
	}
	return c
}

// wait returns the report and checks that the exit code agrees with it.
func (c *conversation) wait(t *testing.T) answer {
	t.Helper()
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("running synthetic: %v", err)
	}
	var r answer
	if err := json.Unmarshal(c.stdout.Bytes(), &r); err != nil {
		t.Fatalf("synthetic printed no report: %v\nstdout: %s\nstderr: %s", err, &c.stdout, &c.stderr)
	}
	want := 0
	if r.Outcome != "success" {
		want = 1
	}
	if got := c.cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("exit code %d with outcome %q, want %d", got, r.Outcome, want)
	}
	return r
}

// probeAll holds n consecutive conversations and returns their reports. Every turn has to
// succeed and to be complete.
func probeAll(t *testing.T, n int, baseURL string, turns int, flags ...string) []answer {
	t.Helper()
	flags = append(flags, fmt.Sprintf("--turns=%d", turns))
	reports := make([]answer, n)
	for i := range reports {
		r := converse(t, baseURL, flags...).wait(t)
		if len(r.Turns) != turns {
			t.Fatalf("conversation %d took %d turns, want %d: %+v", i, len(r.Turns), turns, r.Turns)
		}
		for j, turn := range r.Turns {
			checkSuccess(t, fmt.Sprintf("conversation %d, turn %d", i, j+1), turn)
		}
		reports[i] = r
	}
	return reports
}

// checkSuccess checks the fields of a successful turn with any server.
func checkSuccess(t *testing.T, where string, got turn) {
	t.Helper()
	if got.Outcome != "success" {
		t.Fatalf("%s: outcome %q (%s), want success", where, got.Outcome, got.Error)
	}
	// Without a usage, the tokens of events that are longer than usual tokens are unknown.
	noTPOT := got.TPOT == nil && !(got.TPOTUnknown == "no_usage" && got.PromptTokens == nil)
	if got.TTFT == nil || noTPOT || got.ITLp50 == nil || got.AnswerTTFT == nil {
		t.Fatalf("%s: a figure is missing: %+v", where, got)
	}
	if *got.TTFT <= 0 || *got.TTFT > got.Duration {
		t.Errorf("%s: TTFT %v s of a turn of %v s", where, *got.TTFT, got.Duration)
	}
	if first := got.FirstEvent; first == nil || *first > *got.TTFT {
		t.Errorf("%s: the first event came %v s after sending, later than the first token (%v s)", where, value(first), *got.TTFT)
	}
	if got.Sent.Before(got.Scheduled) {
		t.Errorf("%s: sent at %v, before it was scheduled (%v)", where, got.Sent, got.Scheduled)
	}
	if len(got.TraceID) != 32 {
		t.Errorf("%s: trace id %q has not 32 digits", where, got.TraceID)
	}
}

// checkReuse checks that only the first turn of each conversation opens a connection.
func checkReuse(t *testing.T, reports []answer) {
	t.Helper()
	for i, r := range reports {
		for j, turn := range r.Turns {
			if dialled := turn.Connect != nil; dialled != (j == 0) || turn.Reused == dialled {
				t.Errorf("conversation %d, turn %d: dialled %v, connection reused %v; only the first turn should dial", i, j+1, dialled, turn.Reused)
			}
		}
	}
}

// value prints an optional number.
func value[T any](p *T) any {
	if p == nil {
		return "n/a"
	}
	return *p
}

// turns returns the turns of all reports.
func turns(reports []answer) []turn {
	var all []turn
	for _, r := range reports {
		all = append(all, r.Turns...)
	}
	return all
}
