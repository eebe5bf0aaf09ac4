package baseline

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// TestValues checks that a turn that timed out counts with its deadline, and that another
// failure has no value for the signals that it did not reach.
func TestValues(t *testing.T) {
	d := workload.Timeouts{FirstToken: 30 * time.Second, Stall: 10 * time.Second, Total: time.Minute}
	sent := monday
	ok := probe.Some(200 * time.Millisecond)
	none := probe.Opt[time.Duration]{}
	for name, tt := range map[string]struct {
		r          probe.Result
		ttft, tpot probe.Opt[time.Duration]
	}{
		"success":                {probe.Result{Outcome: probe.Success, TTFT: ok, TPOT: ok}, ok, ok},
		"one token":              {probe.Result{Outcome: probe.Success, TTFT: ok}, ok, none},
		"hang":                   {probe.Result{Outcome: probe.TimeoutFirstToken, Sent: sent, End: sent.Add(30 * time.Second)}, probe.Some(30 * time.Second), none},
		"hung longer":            {probe.Result{Outcome: probe.TimeoutTotal, Sent: sent, End: sent.Add(time.Minute)}, probe.Some(time.Minute), none},
		"stalled":                {probe.Result{Outcome: probe.Stall, TTFT: ok, TPOT: ok}, ok, probe.Some(10 * time.Second)},
		"too long in all":        {probe.Result{Outcome: probe.TimeoutTotal, TTFT: ok}, ok, probe.Some(10 * time.Second)},
		"cut":                    {probe.Result{Outcome: probe.Truncated, TTFT: ok, TPOT: ok}, ok, none},
		"refused at once":        {probe.Result{Outcome: probe.ConnectError, Sent: sent, End: sent}, none, none},
		"an error at once":       {probe.Result{Outcome: probe.HTTP5xx, Sent: sent, End: sent.Add(150 * time.Millisecond)}, none, none},
		"an error in the end":    {probe.Result{Outcome: probe.HTTP5xx, Sent: sent, End: sent.Add(45 * time.Second)}, none, none},
		"refused for load":       {probe.Result{Outcome: probe.HTTP429, Sent: sent, End: sent}, none, none},
		"wrong words":            {probe.Result{Outcome: probe.ContentMismatch, TTFT: ok, TPOT: ok}, ok, ok},
		"a wrong call":           {probe.Result{Outcome: probe.ToolCallInvalid, TTFT: ok, TPOT: ok}, ok, ok},
		"another form":           {probe.Result{Outcome: probe.SchemaMismatch, TTFT: ok, TPOT: ok}, ok, ok},
		"canceled by a shutdown": {probe.Result{Outcome: probe.Canceled, TTFT: ok}, none, none},
	} {
		got := valuesOf(&tt.r, d)
		for i, want := range []probe.Opt[time.Duration]{tt.ttft, tt.tpot} {
			if got[i].OK != want.OK || want.OK && got[i] != want {
				t.Errorf("%s: signal %d is %+v, want %+v", name, i, got[i], want)
			}
		}
	}
}

// TestHangsPage checks that hanging turns page and are not learned, and that immediate errors
// do not affect latency.
func TestHangsPage(t *testing.T) {
	f := newFeed(options{Timeouts: workload.Timeouts{FirstToken: 30 * time.Second}})
	f.run(2 * day)
	before := f.view()
	f.fail = probe.HTTP5xx
	if v := f.run(time.Hour).view(); pages(v) || tickets(v) || v.Turns != before.Turns {
		t.Errorf("an hour of errors: %+v", v)
	}
	f.fail = probe.TimeoutFirstToken
	if took := f.until(time.Hour, pages); took > 4*time.Minute {
		t.Errorf("hangs page after %v", took)
	}
	after := f.view()
	near(t, "log2 of a timeout", (after.Log2-before.Log2)/(after.Turns-before.Turns), math.Log2(30e6), 1e-6)
	near(t, "baseline", f.run(2*time.Hour).view().Baseline.V, before.Baseline.V, 0.003)
}

func TestMatureBaseline(t *testing.T) {
	v := newFeed(options{}).run(2 * day).view()
	if v.Young || v.Samples < 5000 {
		t.Errorf("after two days: young %t on %v turns", v.Young, v.Samples)
	}
	near(t, "baseline", v.Baseline.V, 0.2, 0.005)
	near(t, "noise of a 30-minute level of 90 turns", v.Noise.V, 0.3/math.Sqrt(90), 0.012)
	near(t, "tail limit", v.UsualTail.V, 0.5, 0.03)
}

func TestCountersNeverFall(t *testing.T) {
	f := newFeed(options{})
	f.usual = time.Nanosecond
	last := f.view()
	for range 100 {
		v := f.run(20 * time.Second).view()
		if v.Log2 < last.Log2 || v.BaselineLog2 < last.BaselineLog2 || v.Turns <= last.Turns {
			t.Fatalf("a counter fell: %+v after %+v", v, last)
		}
		last = v
	}
}

func TestCachedBaseline(t *testing.T) {
	f := newFeed(options{})
	turn := func(cached int) {
		r := probe.Result{Kind: probe.Followup, Outcome: probe.Success, TTFT: probe.Some(time.Second), PromptTokens: probe.Some(1000), CachedTokens: probe.Some(cached)}
		f.observe(&r, f.now)
		f.now = f.now.Add(30 * time.Second)
	}
	for range 2 * 2880 {
		turn(800)
	}
	near(t, "usual ratio", f.usualCached(1).V, 0.8, 1e-6)
	for range 8 * 2880 {
		turn(100)
	}
	near(t, "usual ratio after a week without hits", f.usualCached(1).V, 0.8, 1e-6)
	if got := f.usualCached(0); got.OK {
		t.Errorf("the ratio of turns that never came is %v", got)
	}
}

func TestParts(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		connect, ttft, tpot time.Duration
		buffered            bool
		want                Part
	}{
		"slow connect": {500 * ms, 700 * ms, 20 * ms, false, Connect},
		"queue":        {10 * ms, 700 * ms, 20 * ms, false, QueuePrefill},
		"slow decode":  {10 * ms, 200 * ms, 40 * ms, false, Decode},
		"a proxy":      {10 * ms, 2200 * ms, 0, true, ProxyBuffering},
		"and a queue":  {10 * ms, 9200 * ms, 0, true, QueuePrefill},
	} {
		f := newFeed(options{})
		turns := func(n int, connect, ttft, tpot time.Duration, buffered bool) {
			for range n {
				r := success(ttft)
				r.Buffered = buffered
				r.TPOT, r.OutputTokens, r.Phases = probe.Opt[time.Duration]{V: tpot, OK: !buffered}, probe.Some(100), probe.Phases{Connect: probe.Some(connect)}
				f.observe(r, f.now)
				f.now = f.now.Add(5 * time.Second)
			}
		}
		if got := f.parts[0].excess(); got.OK {
			t.Errorf("without turns the parts are %v", got)
		}
		turns(2000, 10*ms, 200*ms, 20*ms, false)
		turns(120, tt.connect, tt.ttft, tt.tpot, tt.buffered)
		got, largest := f.parts[0].excess().V, 0
		for i := range got {
			if got[i] > got[largest] {
				largest = i
			}
		}
		if diff := cmp.Diff(tt.want, Parts()[largest]); diff != "" {
			t.Errorf("%s: the excess is %v (-want +got):\n%s", name, got, diff)
		}
	}
}
