package probe_test

import (
	"context"
	"net"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// late simulates a process that was late.
type late struct {
	longest, lost func(from, to time.Time) time.Duration
	now           time.Duration
}

func (l late) Between(from, to time.Time) (longest, lost time.Duration) {
	return l.longest(from, to), l.lost(from, to)
}

func (l late) Lag() time.Duration { return l.now }

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
	well := late{never, never, 0}
	stopped := late{lasting(time.Second), lasting(time.Second), 0}
	throttled := late{lasting(80 * time.Millisecond), part(0.8), 0}
	paused := late{lasting(time.Second), part(0.05), 0}
	slightly := late{lasting(15 * time.Millisecond), lasting(15 * time.Millisecond), 0}
	for _, tc := range []struct {
		name   string
		steps  []step
		hold   bool
		atOnce bool
		bound  bool // the prober's deadline
		change func(*probe.Options)
		theirs probe.Outcome // if the prober ran
		ours   probe.Outcome // if it did not
	}{
		{"no connection", nil, false, false, true, func(o *probe.Options) { o.Dial = silent }, probe.ConnectError, probe.NotSent},
		{"no connection, as the dialer says", nil, false, false, true, func(o *probe.Options) { o.Dial = early }, probe.ConnectError, probe.NotSent},
		{"no handshake", nil, true, true, false, func(o *probe.Options) { o.Target.BaseURL = "https" + o.Target.BaseURL[4:] }, probe.TLSError, probe.NotSent},
		{"no answer", nil, true, false, true, nil, probe.TimeoutFirstToken, probe.ProberLate},
		{"no token", []step{{0, sseHead + chunk(role)}}, true, false, true, nil, probe.TimeoutFirstToken, probe.ProberLate},
		{"a stall", []step{{0, sseHead + chunk(hello)}}, true, false, true, nil, probe.Stall, probe.ProberLate},
		{"hung up without an answer", []step{{short, ""}}, false, false, false, nil, probe.ConnectError, probe.ProberLate},
		{"hung up amid the answer", []step{{0, sseHead + chunk(hello)}, {short, ""}}, false, false, false, func(o *probe.Options) { o.Workload.Timeouts.Stall = long }, probe.Truncated, probe.ProberLate},
		{"too slow a request", []step{{0, jsonResponse("408 Request Timeout", "{}")}}, false, true, false, nil, probe.HTTP4xx, probe.ProberLate},
		{"a server error", []step{{0, jsonResponse("500 No", "{}")}}, false, false, false, nil, probe.HTTP5xx, probe.HTTP5xx},
		{"an answer", []step{{0, sseHead + chunk(hello, finish, done) + lastChunk}}, false, false, false, nil, probe.Success, probe.Success},
	} {
		after := tc.ours // after a pause that leaves the peer nearly all of the time
		if tc.bound {
			after = tc.theirs
		}
		part := tc.ours // if part of the time was lost, but the deadline was checked on time
		if tc.bound && tc.theirs != probe.ConnectError {
			part = tc.theirs // because the peer had the request
		}
		for lateness, want := range map[*late]probe.Outcome{
			&well: tc.theirs, &slightly: tc.theirs, &paused: after, &stopped: tc.ours, &throttled: part,
		} {
			if lateness == &throttled && tc.atOnce {
				continue // no time can be lost
			}
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

// TestRefusalsAreNeverOurs checks that a rejected connection counts against the peer, however late
// the prober is.
func TestRefusalsAreNeverOurs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	o := options(l.Addr().String())
	o.Lag = late{lasting(time.Minute), lasting(time.Minute), time.Minute}
	if r := once(t, o); r.Outcome != probe.ConnectError {
		t.Errorf("outcome %s (%s), want %s", r.Outcome, r.Err, probe.ConnectError)
	}
}

// TestLag checks how much of a turn's latency the prober may have added, and that it applies to
// every later turn of the conversation.
func TestLag(t *testing.T) {
	answer := sseHead + chunk(hello, finish, done) + lastChunk
	for name, tc := range map[string]struct {
		lag  late
		want time.Duration
	}{
		"never late":            {late{never, never, 0}, 0},
		"late all the time":     {late{never, never, 300 * time.Millisecond}, 300 * time.Millisecond},
		"late with the request": {late{never, lasting(200 * time.Millisecond), 0}, 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(play(t, &scripted{steps: []step{{0, answer}}}).addr)
			o.Lag = tc.lag
			if r := once(t, o); r.Lag < tc.want || r.Lag > tc.want+5*time.Second || tc.want == 0 && r.Lag > time.Second {
				t.Errorf("lag %v, want %v", r.Lag, tc.want)
			}
		})
	}
	t.Run("the turns after a late one", func(t *testing.T) {
		o := options(play(t, &scripted{steps: []step{{0, answer}}}).addr)
		turns := 0
		o.Lag = late{never, func(from, to time.Time) time.Duration {
			if turns++; turns == 1 {
				return time.Second
			}
			return 0
		}, 0}
		results, _ := converse(t.Context(), t, o, 3)
		for i, r := range results {
			if r.Lag < time.Second {
				t.Errorf("turn %d of a conversation that began late: lag %v", i+1, r.Lag)
			}
		}
	})
}
