package cause

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// TestFailuresWaitInTheirPart checks that a timed-out turn counts in the part in which it
// waited, with the value that its signal gets. An immediate error counts in no part.
func TestFailuresWaitInTheirPart(t *testing.T) {
	const ms = time.Millisecond
	limits := workload.Timeouts{FirstToken: 10 * time.Second, Stall: 5 * time.Second, Total: 30 * time.Second}
	sent := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		r    probe.Result
		want phaseSeconds
		none bool
	}{
		"success": {
			r: probe.Result{Outcome: probe.Success, TTFT: probe.Some(200 * ms), TPOT: probe.Some(20 * ms), OutputTokens: probe.Some(50),
				Phases: probe.Phases{DNS: probe.Some(ms), Connect: probe.Some(4 * ms), TLS: probe.Some(5 * ms)}},
			want: phaseSeconds{connect: 0.01, ttft: 0.2, tpot: 0.02, output: 50},
		},
		"no first token": {
			r: probe.Result{Outcome: probe.TimeoutFirstToken, End: sent.Add(10 * time.Second),
				Phases: probe.Phases{Connect: probe.Some(4 * ms)}},
			want: phaseSeconds{connect: 0.004, ttft: 10},
		},
		"no connection in time": {
			r: probe.Result{Outcome: probe.TimeoutFirstToken, End: sent.Add(10 * time.Second),
				Phases: probe.Phases{Connect: probe.Some(10 * time.Second)}},
			want: phaseSeconds{connect: 10, ttft: 10},
		},
		"refused connection": {r: probe.Result{Outcome: probe.ConnectError, End: sent.Add(ms)}, none: true},
		"stalled": {
			r:    probe.Result{Outcome: probe.Stall, TTFT: probe.Some(200 * ms), TPOT: probe.Some(ms), OutputTokens: probe.Some(3)},
			want: phaseSeconds{ttft: 0.2, tpot: 0.05, output: 100},
		},
		"cut": {
			r:    probe.Result{Outcome: probe.Truncated, TTFT: probe.Some(200 * ms)},
			want: phaseSeconds{ttft: 0.2},
		},
		"other content": {
			r:    probe.Result{Outcome: probe.ContentMismatch, TTFT: probe.Some(200 * ms), TPOT: probe.Some(20 * ms), OutputTokens: probe.Some(50)},
			want: phaseSeconds{ttft: 0.2, tpot: 0.02, output: 50},
		},
		"status 500": {r: probe.Result{Outcome: probe.HTTP5xx}, none: true},
		"status 429": {r: probe.Result{Outcome: probe.HTTP429}, none: true},
	} {
		t.Run(name, func(t *testing.T) {
			tt.r.Sent = sent
			if tt.r.End.IsZero() {
				tt.r.End = sent.Add(time.Second)
			}
			got, ok := phaseSecondsOf(&tt.r, valuesOf(&tt.r, limits), 100)
			if ok == tt.none || ok && got != tt.want {
				t.Errorf("got %+v (%v), want %+v", got, ok, tt.want)
			}
		})
	}
}

// TestHangIsNamed checks that turns without a first token show up as excess of queue and
// prefill, and that failures are not learned as usual.
func TestHangIsNamed(t *testing.T) {
	f := newFeed(options{Timeouts: workload.Timeouts{FirstToken: 10 * time.Second}})
	for range 200 {
		f.observe(&probe.Result{Kind: probe.First, Outcome: probe.Success, Sent: f.now, TTFT: probe.Some(200 * time.Millisecond)}, f.now)
		f.now = f.now.Add(5 * time.Second)
	}
	for range 300 {
		f.observe(&probe.Result{Kind: probe.First, Outcome: probe.TimeoutFirstToken, Sent: f.now.Add(-10 * time.Second), End: f.now}, f.now)
		f.now = f.now.Add(5 * time.Second)
	}
	got := f.parts[0].excess().V
	if got[0] != 0 || got[1] < 9.5 || got[1] > 10 {
		t.Errorf("the parts of a hang are %v, want 9.8 s of queue and prefill", got)
	}
}
