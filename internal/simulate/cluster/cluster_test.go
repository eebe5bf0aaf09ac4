package cluster

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// small returns a worker whose steps take 10 ms, plus 1 ms per decoding sequence and 1 ms per
// 10 prompt tokens.
func small() Config {
	return Config{
		Workers: 1,
		Engine: engine{
			MaxSeqs: 4, MaxBatchedTokens: 1000, BlockTokens: 16, KVTokens: 16 * 100,
			Cost: cost{Base: 10e-3, Token: 1e-3, Prefill: .1e-3},
		},
		Policy: roundRobin,
	}
}

// chainOf returns the chain of a text with a number of blocks. Other keys have other chains.
func chainOf(key uint64, blocks int) []uint64 {
	var c []uint64
	for i := range blocks {
		c = append(c, key<<32+uint64(i))
	}
	return c
}

// run is a cluster and the events that it has delivered.
type run struct {
	*testing.T
	*Cluster
	events []Event
}

func newRun(t *testing.T, c Config) *run { return &run{T: t, Cluster: New(c)} }

func (r *run) submit(at time.Duration, q Request) {
	r.Helper()
	if err := r.Submit(at, q); err != nil {
		r.Fatal(err)
	}
}

func (r *run) advance(to time.Duration) {
	r.Advance(to, func(e Event) { r.events = append(r.events, e) })
}

func (r *run) eventsOf(id uint64) []Event {
	return slices.DeleteFunc(slices.Clone(r.events), func(e Event) bool { return e.ID != id })
}

// last returns the last event of a request.
func (r *run) last(id uint64) Event {
	r.Helper()
	all := r.eventsOf(id)
	if len(all) == 0 {
		r.Fatalf("request %d has no event", id)
	}
	return all[len(all)-1]
}

func TestOneRequest(t *testing.T) {
	c := small()
	c.Frontend = Frontend{RequestDelay: 5 * ms, ResponseDelay: 2 * ms}
	r := newRun(t, c)
	r.submit(100*ms, Request{ID: 7, Prompt: 100, Output: 3})
	if at, ok := r.Next(); !ok || at != 100*ms {
		t.Errorf("the next action is at %v, %v; want 100ms", at, ok)
	}
	r.advance(time.Minute)
	// 5 ms to the worker, 20 ms of prefill, then 11 ms per token; 2 ms to the client.
	want := []Event{
		{127 * ms, 7, Tokens, 1, 0, 0, 20 * ms},
		{138 * ms, 7, Tokens, 1, 0, 0, 31 * ms},
		{149 * ms, 7, Tokens, 1, 0, 0, 42 * ms},
		{149 * ms, 7, Done, 0, 0, 0, 42 * ms},
	}
	if !slices.Equal(r.events, want) {
		t.Errorf("events %v\nwant   %v", r.events, want)
	}
	if _, ok := r.Next(); ok || r.Now() != time.Minute {
		t.Errorf("the agenda is not empty, or the time %v is not one minute", r.Now())
	}
}

func TestPromptInChunks(t *testing.T) {
	c := small()
	c.Engine.MaxBatchedTokens = 50
	r := newRun(t, c)
	r.submit(0, Request{ID: 1, Prompt: 120, Output: 1})
	r.advance(time.Second)
	// Steps of 50, 50 and 20 tokens.
	if at := r.last(1).At; at != 42*ms {
		t.Errorf("done at %v, want 42ms", at)
	}
	if s := r.Worker(0); r.workers[0].steps != 3 || s.PrefilledTokens != 120 {
		t.Errorf("%d steps, stats %+v", r.workers[0].steps, s)
	}
}

func TestFullBatchMakesOthersWait(t *testing.T) {
	r := newRun(t, small())
	for id := range uint64(6) {
		r.submit(0, Request{ID: id, Prompt: 10, Output: 10})
	}
	r.advance(20 * ms)
	if s := r.Worker(0); s.Running != 4 || s.Waiting != 2 || r.InFlight() != 6 {
		t.Errorf("%d in flight, stats %+v", r.InFlight(), s)
	}
	r.advance(time.Second)
	// The first request runs alone in its first step, so it ends before the others.
	a, b := r.last(0).At, r.eventsOf(4)[0]
	if b.At != a+14*ms {
		t.Errorf("the first token of the fifth request came at %v, not in the step after the end of the first at %v", b.At, a)
	}
}

func TestCachedPrefixIsNotComputedAgain(t *testing.T) {
	r := newRun(t, small())
	chain := chainOf(1, 20)
	r.submit(0, Request{ID: 1, Prompt: 160, Output: 32, Chain: chain[:12]})
	r.advance(time.Second)
	// The next turn has a history of 192 tokens and a question of 8.
	r.submit(time.Second, Request{ID: 2, Prompt: 200, Output: 1, Chain: chain[:12]})
	r.advance(2 * time.Second)
	e := r.eventsOf(2)[0]
	if e.Cached != 176 {
		t.Errorf("%d tokens cached, want 176: the last generated token was never computed", e.Cached)
	}
	if delay := e.At - time.Second; delay != 10*ms+2400*time.Microsecond {
		t.Errorf("first token after %v, want 10ms plus 0.1ms for each of 24 tokens", delay)
	}
	// If the whole prompt is cached, its last block is computed again.
	r.submit(3*time.Second, Request{ID: 3, Prompt: 160, Output: 1, Chain: chain[:10]})
	r.advance(4 * time.Second)
	if got := r.last(3).Cached; got != 144 {
		t.Errorf("%d of 160 tokens cached, want 144", got)
	}
}

func TestLookahead(t *testing.T) {
	c := small()
	c.Engine.Lookahead = 2
	r := newRun(t, c)
	r.submit(0, Request{ID: 1, Prompt: 10, Output: 50})
	r.advance(15 * ms) // in the second step, which began at 11 ms
	r.submit(15*ms, Request{ID: 2, Prompt: 10, Output: 1})
	r.advance(time.Second)
	// Steps of 11 ms are planned until 44 ms. The next step computes both requests.
	if at := r.eventsOf(2)[0].At; at != 44*ms+12*ms {
		t.Errorf("first token at %v, want 56ms", at)
	}
	r.submit(2*time.Second, Request{ID: 3, Prompt: 10, Output: 1})
	r.advance(3 * time.Second)
	if delay := r.eventsOf(3)[0].At - 2*time.Second; delay != 11*ms {
		t.Errorf("an idle worker needed %v, want 11ms", delay)
	}
}

func TestPreemption(t *testing.T) {
	c := small()
	c.Engine.KVTokens = 16 * 12
	r := newRun(t, c)
	r.submit(0, Request{ID: 1, Prompt: 80, Output: 60, Chain: chainOf(1, 8)})
	r.submit(0, Request{ID: 2, Prompt: 80, Output: 60, Chain: chainOf(2, 8)})
	r.advance(10 * time.Second)
	for id := uint64(1); id <= 2; id++ {
		n := 0
		for _, e := range r.eventsOf(id) {
			n += e.Tokens
		}
		if n != 60 || r.last(id).Kind != Done {
			t.Errorf("request %d: %d tokens, %v", id, n, r.last(id).Kind)
		}
	}
	s := r.Worker(0)
	if s.Preemptions == 0 || s.PrefilledTokens <= 160 {
		t.Errorf("%d preemptions, %d tokens of prefill; want some tokens to be computed twice", s.Preemptions, s.PrefilledTokens)
	}
	if r.last(1).At >= r.last(2).At {
		t.Error("the first request ended last: preemption must hit the sequence admitted last")
	}
}

func TestSpeculation(t *testing.T) {
	c := small()
	c.Engine.Speculation = Speculation{Draft: 3, Acceptance: 1}
	r := newRun(t, c)
	r.submit(0, Request{ID: 1, Prompt: 10, Output: 10})
	r.advance(time.Second)
	var burstTokens []int
	for _, e := range r.eventsOf(1) {
		burstTokens = append(burstTokens, e.Tokens)
	}
	// All drafts are accepted. The last burst stops at the end of the answer.
	if !slices.Equal(burstTokens, []int{1, 4, 4, 1, 0}) {
		t.Errorf("tokens per event: %v", burstTokens)
	}
	if at := r.last(1).At; at != 11*ms+3*14*ms {
		t.Errorf("done at %v, want 53ms: a batch of four tokens costs 4 ms", at)
	}
	if s := r.Worker(0); s.DraftTokens != 9 || s.AcceptedTokens != 9 {
		t.Errorf("stats %+v", s)
	}
}

func TestDeadline(t *testing.T) {
	c := small()
	c.Engine.MaxSeqs = 1
	c.Frontend.Deadline = 100 * ms
	r := newRun(t, c)
	r.submit(0, Request{ID: 1, Prompt: 10, Output: 50})
	r.submit(0, Request{ID: 2, Prompt: 10, Output: 3})
	r.submit(60*ms, Request{ID: 3, Prompt: 10, Output: 3})
	r.advance(time.Second)
	for id, want := range map[uint64]Kind{1: Expired, 2: Expired, 3: Done} {
		if got := r.last(id).Kind; got != want {
			t.Errorf("request %d: %v, want %v", id, got, want)
		}
	}
	if at := r.last(1).At; at != 100*ms {
		t.Errorf("expired at %v", at)
	}
	if got := r.eventsOf(2); len(got) != 1 {
		t.Errorf("events %v, want one: the request never ran", got)
	}
}

func TestCancel(t *testing.T) {
	r := newRun(t, small())
	r.submit(0, Request{ID: 1, Prompt: 10, Output: 50})
	r.submit(500*ms, Request{ID: 2, Prompt: 10, Output: 50})
	r.advance(30 * ms)
	r.Cancel(1)
	r.Cancel(2)
	r.Cancel(3)
	r.advance(time.Second)
	for id := uint64(1); id <= 2; id++ {
		if e := r.last(id); e.Kind != Canceled || e.At != 30*ms {
			t.Errorf("request %d: %v at %v", id, e.Kind, e.At)
		}
	}
	if s := r.Worker(0); s.Running != 0 || s.KVUsed != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestSubmitRefuses(t *testing.T) {
	r := newRun(t, small())
	r.advance(time.Second)
	r.submit(2*time.Second, Request{ID: 1, Prompt: 1, Output: 1})
	for _, test := range []struct {
		at      time.Duration
		request Request
		want    string
	}{
		{0, Request{ID: 2, Prompt: 1, Output: 1}, "that is in the past"},
		{time.Second, Request{ID: 1, Prompt: 1, Output: 1}, "another request with this ID is in flight"},
		{time.Second, Request{ID: 2, Prompt: 1600, Output: 1}, "KV memory holds 1600"},
		{time.Second, Request{ID: 2, Output: 1}, "each needs at least 1"},
		{time.Second, Request{ID: 2, Prompt: 1}, "each needs at least 1"},
	} {
		if err := r.Submit(test.at, test.request); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("submit %+v: %v, want %q", test.request, err, test.want)
		}
	}
	r.submit(time.Second, Request{ID: 2, Prompt: 1599, Output: 1})
}

func TestSubmitWhileEventsAreHandled(t *testing.T) {
	r := newRun(t, small())
	r.submit(0, Request{ID: 1, Prompt: 10, Output: 2})
	var ends []time.Duration
	r.Advance(time.Second, func(e Event) {
		if e.Kind != Done {
			return
		}
		ends = append(ends, e.At)
		if len(ends) < 3 {
			r.submit(e.At, Request{ID: 1, Prompt: 10, Output: 2})
		}
	})
	if !slices.Equal(ends, []time.Duration{22 * ms, 44 * ms, 66 * ms}) {
		t.Errorf("ends %v", ends)
	}
}
