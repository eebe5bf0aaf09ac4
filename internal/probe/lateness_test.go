package probe_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// late simulates a process that was late.
type late struct {
	longest, lost func(from, to time.Time) time.Duration
}

func (l late) Between(from, to time.Time) (longest, lost time.Duration) {
	return l.longest(from, to), l.lost(from, to)
}

func never(time.Time, time.Time) time.Duration { return 0 }

func lasting(d time.Duration) func(from, to time.Time) time.Duration {
	return func(time.Time, time.Time) time.Duration { return d }
}

// part loses a share of each span.
func part(share float64) func(from, to time.Time) time.Duration {
	return func(from, to time.Time) time.Duration { return time.Duration(share * float64(to.Sub(from))) }
}

// TestLatenessOfOurOwn lets deadlines pass and connections end, with a prober that runs and with
// one that provably did not.
func TestLatenessOfOurOwn(t *testing.T) {
	const short, long = 200 * time.Millisecond, 20 * time.Second
	silent := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	// A dialer may notice a deadline before its context does.
	early := func(context.Context, string, string) (net.Conn, error) {
		time.Sleep(short)
		return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	}
	well := late{never, never}
	stoppedProber := late{lasting(time.Second), lasting(time.Second)}
	throttled := late{lasting(80 * time.Millisecond), part(0.8)}
	slightly := late{lasting(15 * time.Millisecond), lasting(15 * time.Millisecond)}
	for _, tc := range []struct {
		name   string
		steps  []step
		hold   bool
		bound  bool // the prober's deadline
		change func(*probe.Options)
		theirs probe.Outcome // if the prober ran
		ours   probe.Outcome // if it did not
	}{
		{"no connection", nil, false, true, func(o *probe.Options) { o.Dial = silent }, probe.ConnectError, probe.NotSent},
		{"no connection, as the dialer says", nil, false, true, func(o *probe.Options) { o.Dial = early }, probe.ConnectError, probe.NotSent},
		{"no handshake", nil, true, false, func(o *probe.Options) { o.Target.BaseURL = "https" + o.Target.BaseURL[4:] }, probe.TLSError, probe.NotSent},
		{"no answer", nil, true, true, nil, probe.TimeoutFirstToken, probe.ProberLate},
		{"no token", []step{{0, sseHead + chunk(role)}}, true, true, nil, probe.TimeoutFirstToken, probe.ProberLate},
		{"a stall", []step{{0, sseHead + chunk(hello)}}, true, true, nil, probe.Stall, probe.ProberLate},
		{"hung up without an answer", []step{{short, ""}}, false, false, nil, probe.ConnectError, probe.ProberLate},
		{"hung up amid the answer", []step{{0, sseHead + chunk(hello)}, {short, ""}}, false, false, func(o *probe.Options) { o.Workload.Timeouts.Stall = long }, probe.Truncated, probe.Truncated},
		{"too slow a request", []step{{0, jsonResponse("408 Request Timeout", "{}")}}, false, false, nil, probe.HTTP4xx, probe.ProberLate},
		{"a server error", []step{{0, jsonResponse("500 No", "{}")}}, false, false, nil, probe.HTTP5xx, probe.HTTP5xx},
		{"an answer", []step{{0, sseHead + chunk(hello, finish, done) + lastChunk}}, false, false, nil, probe.Success, probe.Success},
	} {
		stopped := tc.ours
		if tc.bound {
			stopped = tc.theirs // because it got more time, or had its request
		}
		for lateness, want := range map[*late]probe.Outcome{
			&well: tc.theirs, &slightly: tc.theirs, &throttled: tc.theirs, &stoppedProber: stopped,
		} {
			t.Run(tc.name, func(t *testing.T) {
				o := options(play(t, &scripted{steps: tc.steps, hold: tc.hold}).addr)
				o.Workload.Timeouts.FirstToken, o.Workload.Timeouts.Stall, o.Workload.Timeouts.Total = 2*short, short, long
				o.Lag = lateness
				if tc.change != nil {
					tc.change(&o)
				}
				if r := once(t, o); r.Outcome != want {
					t.Errorf("with a prober that was late by %v: %s (%s), want %s", lateness.longest(time.Time{}, time.Time{}), r.Outcome, r.Err, want)
				}
			})
		}
	}
}

// TestRefusalsAreNeverOurs checks that a rejected connection and an unknown name count against the peer, however late
// the prober is.
func TestRefusalsAreNeverOurs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for host, text := range map[string]string{l.Addr().String(): "refused", "name.invalid": ""} {
		o := options(host)
		o.Lag = late{lasting(time.Minute), lasting(time.Minute)}
		if r := once(t, o); r.Outcome != probe.ConnectError || !strings.Contains(r.Err, text) {
			t.Errorf("outcome %s (%s), want %s (%s)", r.Outcome, r.Err, probe.ConnectError, text)
		}
	}
}

// TestLag checks how much of a turn's latency the prober may have added.
func TestLag(t *testing.T) {
	answer := sseHead + chunk(hello, finish, done) + lastChunk
	o := options(play(t, &scripted{steps: []step{{0, answer}}}).addr)
	var first time.Time // when the first turn was sent
	o.Lag = late{never, func(from, to time.Time) time.Duration {
		if first.IsZero() {
			first = from
		}
		if from.Equal(first) {
			return 20 * time.Second
		}
		return 0
	}}
	results, _ := converse(t.Context(), t, o, 3)
	for i, r := range results {
		if late := r.Lag >= 20*time.Second; late != (i == 0) {
			t.Errorf("turn %d: lag %v; the prober was 20 s late with the request of the first turn", i+1, r.Lag)
		}
	}
}

// TestAnswerAcrossTheTimeout lets a server answer after the timeout, but within it as counted from the time at which a
// late prober had sent the request. If the headers come before, the prober reads over the first deadline.
func TestAnswerAcrossTheTimeout(t *testing.T) {
	for name, steps := range map[string][]step{
		"headers in time": {{100 * time.Millisecond, sseHead}, {500 * time.Millisecond, chunk(hello, finish, done) + lastChunk}},
		"headers late":    {{500 * time.Millisecond, sseHead}, {200 * time.Millisecond, chunk(hello)}, {200 * time.Millisecond, chunk(world, finish, done) + lastChunk}},
		"all at once":     {{600 * time.Millisecond, sseHead + chunk(hello, finish, done) + lastChunk}},
	} {
		t.Run(name, func(t *testing.T) {
			for lost, want := range map[time.Duration]probe.Outcome{0: probe.TimeoutFirstToken, 20 * time.Second: probe.Success} {
				o := options(play(t, &scripted{steps: steps}).addr)
				o.Workload.Timeouts.FirstToken = 300 * time.Millisecond
				o.Lag = late{never, lasting(lost)}
				if r := once(t, o); r.Outcome != want || (r.Answer == "") != (lost == 0) || r.Lag < lost {
					t.Errorf("lost %v: %s (%s), answer %q, lag %v", lost, r.Outcome, r.Err, r.Answer, r.Lag)
				}
			}
		})
	}
}
