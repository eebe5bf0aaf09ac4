package cause

import (
	"math"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// TestFailuresWaitInTheirPart checks that a timed-out turn counts in the part in which it
// waited, with the value that its signal gets. An immediate error counts in no part.
func TestFailuresWaitInTheirPart(t *testing.T) {
	const ms = time.Millisecond
	sent := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		r      probe.Result
		values Values // of a turn that timed out
		want   phaseSeconds
		none   bool
	}{
		"success": {
			r: probe.Result{
				Outcome: probe.Success, TTFT: probe.Some(200 * ms), TPOT: probe.Some(20 * ms),
				Tokens: probe.Tokens{OutputTokens: probe.Some(50)},
				Timing: probe.Timing{Phases: probe.Phases{DNS: probe.Some(ms), Connect: probe.Some(4 * ms), TLS: probe.Some(5 * ms)}},
			},
			want: phaseSeconds{connect: 0.01, ttft: 0.2, tpot: 0.02, output: 50},
		},
		"no first token": {
			r: probe.Result{Outcome: probe.TimeoutFirstToken, End: sent.Add(10 * time.Second),
				Timing: probe.Timing{Phases: probe.Phases{Connect: probe.Some(4 * ms)}}},
			values: Values{probe.Some(10 * time.Second)},
			want:   phaseSeconds{connect: 0.004, ttft: 10},
		},
		"no connection in time": {
			r: probe.Result{Outcome: probe.TimeoutFirstToken, End: sent.Add(10 * time.Second),
				Timing: probe.Timing{Phases: probe.Phases{Connect: probe.Some(10 * time.Second)}}},
			values: Values{probe.Some(10 * time.Second)},
			want:   phaseSeconds{connect: 10, ttft: 10},
		},
		"refused connection": {r: probe.Result{Outcome: probe.ConnectError, End: sent.Add(ms)}, none: true},
		"stalled": {
			r: probe.Result{
				Outcome: probe.Stall, TTFT: probe.Some(200 * ms), TPOT: probe.Some(ms),
				Tokens: probe.Tokens{OutputTokens: probe.Some(3)},
			},
			values: Values{1: probe.Some(5 * time.Second)},
			want:   phaseSeconds{ttft: 0.2, tpot: 0.05, output: 100},
		},
		"cut": {
			r:    probe.Result{Outcome: probe.Truncated, TTFT: probe.Some(200 * ms)},
			want: phaseSeconds{ttft: 0.2},
		},
		"other content": {
			r: probe.Result{
				Outcome: probe.ContentMismatch, TTFT: probe.Some(200 * ms), TPOT: probe.Some(20 * ms),
				Tokens: probe.Tokens{OutputTokens: probe.Some(50)},
			},
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
			got, ok := phaseSecondsOf(&tt.r, tt.values, 100)
			if ok == tt.none || ok && got != tt.want {
				t.Errorf("got %+v (%v), want %+v", got, ok, tt.want)
			}
		})
	}
}

// TestSlowPartIsNamed checks that the largest excess is that of the part that became slower, that a hang is excess of queue
// and prefill, and that failures are not learned.
func TestSlowPartIsNamed(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		connect, ttft, tpot time.Duration
		buffered, hung      bool
		want                Part
	}{
		"slow connect": {500 * ms, 700 * ms, 20 * ms, false, false, Connect},
		"queue":        {10 * ms, 700 * ms, 20 * ms, false, false, QueuePrefill},
		"slow decode":  {10 * ms, 200 * ms, 40 * ms, false, false, Decode},
		"a proxy":      {10 * ms, 2200 * ms, 0, true, false, ProxyBuffering},
		"and a queue":  {10 * ms, 9200 * ms, 0, true, false, QueuePrefill},
		"a hang":       {10 * ms, 10_000 * ms, 0, false, true, QueuePrefill},
	} {
		var c Comparison
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		turns := func(n int, connect, ttft, tpot time.Duration, buffered, hung bool) {
			for range n {
				r := probe.Result{
					Outcome: probe.Success, TTFT: probe.Some(ttft), TPOT: probe.Opt[time.Duration]{V: tpot, OK: tpot > 0},
					Tokens: probe.Tokens{OutputTokens: probe.Some(100)},
					Timing: probe.Timing{Buffered: buffered, Phases: probe.Phases{Connect: probe.Some(connect)}},
				}
				if hung {
					r.Outcome, r.TTFT.OK = probe.TimeoutFirstToken, false
				}
				c.Observe(&r, Values{probe.Some(ttft), r.TPOT}, now, true)
				now = now.Add(5 * time.Second)
			}
		}
		if got := c.Excess(); got.OK {
			t.Errorf("without turns the parts are %v", got)
		}
		turns(2000, 10*ms, 200*ms, 20*ms, false, false)
		usual := c.Means()
		turns(200, tt.connect, tt.ttft, tt.tpot, tt.buffered, tt.hung)
		got, largest := c.Excess().V, 0
		for i := range got {
			if got[i] > got[largest] {
				largest = i
			}
		}
		if Parts()[largest] != tt.want {
			t.Errorf("%s: %s has the largest excess of %v, want %s", name, Parts()[largest], got, tt.want)
		}
		if tt.hung && c.Means() != usual {
			t.Errorf("hanging turns are learned: %+v, before %+v", c.Means(), usual)
		}
	}
}

// TestRestore checks that saved means are taken over, unless they are damaged.
func TestRestore(t *testing.T) {
	good := Means{Turns: 99, TTFT: 0.2}
	for _, bad := range []Means{{Turns: 99, TTFT: math.Inf(1)}, {Turns: math.NaN()}, {Turns: 99, TPOT: -1}, {Turns: 1e300}} {
		var c Comparison
		c.Restore(good)
		if c.Restore(bad); c.Means() != good || !c.Excess().OK {
			t.Errorf("%+v makes %+v", bad, c.Means())
		}
		if c.Forget(); c.Excess().OK {
			t.Error("what was forgotten is known")
		}
	}
}
