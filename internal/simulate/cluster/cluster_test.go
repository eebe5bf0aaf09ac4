package cluster

import (
	"errors"
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// small is a worker whose steps take 10 ms plus 1 ms per sequence and 1 ms per
// 10 prompt tokens.
func small() Config {
	return Config{
		Workers: 1,
		Engine: Engine{
			MaxSeqs: 4, MaxBatchedTokens: 1000, BlockTokens: 16, KVTokens: 16 * 100,
			Cost: Cost{Base: 10e-3, Token: 1e-3, Prefill: .1e-3},
		},
		Router: Router{Policy: RoundRobin},
	}
}

// chainOf is the chain of a text of so many blocks that no other has.
func chainOf(key uint64, blocks int) []uint64 {
	var c []uint64
	for i := range blocks {
		c = append(c, key<<32+uint64(i))
	}
	return c
}

// world is a cluster with all that it told.
type world struct {
	*testing.T
	*Cluster
	events []Event
}

func newWorld(t *testing.T, c Config) *world {
	t.Helper()
	x, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &world{T: t, Cluster: x}
}

func (w *world) submit(at time.Duration, r Request) {
	w.Helper()
	if err := w.Submit(at, r); err != nil {
		w.Fatal(err)
	}
}

func (w *world) run(to time.Duration) {
	w.Advance(to, func(e Event) { w.events = append(w.events, e) })
}

// of returns the events of a request.
func (w *world) of(id uint64) []Event {
	return slices.DeleteFunc(slices.Clone(w.events), func(e Event) bool { return e.ID != id })
}

// last returns the last event of a request.
func (w *world) last(id uint64) Event {
	w.Helper()
	all := w.of(id)
	if len(all) == 0 {
		w.Fatalf("request %d has no event", id)
	}
	return all[len(all)-1]
}

func TestOneRequest(t *testing.T) {
	c := small()
	c.Frontend = Frontend{RequestDelay: 5 * ms, ResponseDelay: 2 * ms}
	w := newWorld(t, c)
	w.submit(100*ms, Request{ID: 7, Prompt: 100, Output: 3})
	if at, ok := w.Next(); !ok || at != 100*ms {
		t.Errorf("next is at %v, %v", at, ok)
	}
	w.run(time.Minute)
	// 5 ms to the worker, 20 ms of prefill, then 11 ms a token; 2 ms back.
	want := []Event{
		{127 * ms, 7, Tokens, 1, 0, 0, 20 * ms},
		{138 * ms, 7, Tokens, 1, 0, 0, 31 * ms},
		{149 * ms, 7, Tokens, 1, 0, 0, 42 * ms},
		{149 * ms, 7, Done, 0, 0, 0, 42 * ms},
	}
	if !slices.Equal(w.events, want) {
		t.Errorf("events %v\nwant   %v", w.events, want)
	}
	if _, ok := w.Next(); ok || w.Now() != time.Minute {
		t.Errorf("something happens after the end, or now is %v", w.Now())
	}
}

func TestPromptInChunks(t *testing.T) {
	c := small()
	c.Engine.MaxBatchedTokens = 50
	w := newWorld(t, c)
	w.submit(0, Request{ID: 1, Prompt: 120, Output: 1})
	w.run(time.Second)
	// Steps of 50, 50 and 20 tokens.
	if at := w.last(1).At; at != 42*ms {
		t.Errorf("done at %v, want 42ms", at)
	}
	if s := w.Worker(0); s.Steps != 3 || s.PrefilledTokens != 120 || s.Busy != 42*ms {
		t.Errorf("stats %+v", s)
	}
}

func TestFullBatchMakesOthersWait(t *testing.T) {
	w := newWorld(t, small())
	for id := range uint64(6) {
		w.submit(0, Request{ID: id, Prompt: 10, Output: 10})
	}
	w.run(20 * ms)
	if s := w.Stats(); s.Running != 4 || s.Waiting != 2 || s.InFlight != 6 {
		t.Errorf("stats %+v", s)
	}
	w.run(time.Second)
	// The first was alone in its first step, so it ends before the others.
	if a, b := w.last(0).At, w.of(4)[0].At; b != a+14*ms {
		t.Errorf("the fifth's first token came at %v, not in the step after the first's end at %v", b, a)
	}
}

func TestCachedPrefixIsNotComputedAgain(t *testing.T) {
	w := newWorld(t, small())
	chain := chainOf(1, 20)
	w.submit(0, Request{ID: 1, Prompt: 160, Output: 32, Chain: chain[:12]})
	w.run(time.Second)
	// The next turn: history of 192 tokens and a question of 8.
	w.submit(time.Second, Request{ID: 2, Prompt: 200, Output: 1, Chain: chain[:12]})
	w.run(2 * time.Second)
	e := w.of(2)[0]
	if e.Cached != 176 {
		t.Errorf("%d tokens cached, want 176: the last generated one was never computed", e.Cached)
	}
	if took := e.At - time.Second; took != 10*ms+2400*time.Microsecond {
		t.Errorf("first token after %v, want 10ms and 0.1ms for each of 24 tokens", took)
	}
	// The whole prompt cached: its last block is computed all the same.
	w.submit(3*time.Second, Request{ID: 3, Prompt: 160, Output: 1, Chain: chain[:10]})
	w.run(4 * time.Second)
	if got := w.last(3).Cached; got != 144 {
		t.Errorf("%d of 160 tokens cached, want 144", got)
	}
}

func TestLookahead(t *testing.T) {
	c := small()
	c.Engine.Lookahead = 2
	w := newWorld(t, c)
	w.submit(0, Request{ID: 1, Prompt: 10, Output: 50})
	w.run(15 * ms) // in the second step, which began at 11 ms
	w.submit(15*ms, Request{ID: 2, Prompt: 10, Output: 1})
	w.run(time.Second)
	// Steps of 11 ms are planned to 44 ms; the next computes both.
	if at := w.of(2)[0].At; at != 44*ms+12*ms {
		t.Errorf("first token at %v, want 56ms", at)
	}
	w.submit(2*time.Second, Request{ID: 3, Prompt: 10, Output: 1})
	w.run(3 * time.Second)
	if took := w.of(3)[0].At - 2*time.Second; took != 11*ms {
		t.Errorf("an idle worker took %v, want 11ms", took)
	}
}

func TestPreemption(t *testing.T) {
	c := small()
	c.Engine.KVTokens = 16 * 12
	w := newWorld(t, c)
	w.submit(0, Request{ID: 1, Prompt: 80, Output: 60, Chain: chainOf(1, 8)})
	w.submit(0, Request{ID: 2, Prompt: 80, Output: 60, Chain: chainOf(2, 8)})
	w.run(10 * time.Second)
	for id := uint64(1); id <= 2; id++ {
		n := 0
		for _, e := range w.of(id) {
			n += e.Tokens
		}
		if n != 60 || w.last(id).Kind != Done {
			t.Errorf("request %d: %d tokens, %v", id, n, w.last(id).Kind)
		}
	}
	s := w.Worker(0)
	if s.Preemptions == 0 || s.PrefilledTokens <= 160 {
		t.Errorf("%d preemptions, %d tokens of prefill; want some to be computed twice", s.Preemptions, s.PrefilledTokens)
	}
	if w.last(1).At >= w.last(2).At {
		t.Error("the first came last: the sequence admitted last is to give way")
	}
}

func TestSpeculation(t *testing.T) {
	c := small()
	c.Engine.Speculation = Speculation{Draft: 3, Acceptance: 1}
	w := newWorld(t, c)
	w.submit(0, Request{ID: 1, Prompt: 10, Output: 10})
	w.run(time.Second)
	var bursts []int
	for _, e := range w.of(1) {
		bursts = append(bursts, e.Tokens)
	}
	// All accepted: the last burst stops at the end of the answer.
	if !slices.Equal(bursts, []int{1, 4, 4, 1, 0}) {
		t.Errorf("bursts %v", bursts)
	}
	if at := w.last(1).At; at != 11*ms+3*14*ms {
		t.Errorf("done at %v, want 53ms: four tokens of a batch cost 4 ms", at)
	}
	if s := w.Worker(0); s.Drafts != 3 || s.DraftTokens != 9 || s.AcceptedTokens != 9 {
		t.Errorf("stats %+v", s)
	}
}

func TestDeadline(t *testing.T) {
	c := small()
	c.Engine.MaxSeqs = 1
	c.Frontend.Deadline = 100 * ms
	w := newWorld(t, c)
	w.submit(0, Request{ID: 1, Prompt: 10, Output: 50})
	w.submit(0, Request{ID: 2, Prompt: 10, Output: 3})
	w.submit(60*ms, Request{ID: 3, Prompt: 10, Output: 3})
	w.run(time.Second)
	for id, want := range map[uint64]Kind{1: Expired, 2: Expired, 3: Done} {
		if got := w.last(id).Kind; got != want {
			t.Errorf("request %d: %v, want %v", id, got, want)
		}
	}
	if at := w.last(1).At; at != 100*ms {
		t.Errorf("expired at %v", at)
	}
	if got := w.of(2); len(got) != 1 {
		t.Errorf("events %v of a request that never ran", got)
	}
}

func TestMaxWaiting(t *testing.T) {
	c := small()
	c.Engine.MaxSeqs, c.Frontend.MaxWaiting = 1, 2
	w := newWorld(t, c)
	for id := range uint64(5) {
		w.submit(0, Request{ID: id, Prompt: 10, Output: 3})
	}
	w.run(time.Second)
	var refused []uint64
	for _, e := range w.events {
		if e.Kind == Refused {
			refused = append(refused, e.ID)
		}
	}
	if !slices.Equal(refused, []uint64{3, 4}) {
		t.Errorf("refused %v, want the two beyond one running and two waiting", refused)
	}
}

func TestCancel(t *testing.T) {
	w := newWorld(t, small())
	w.submit(0, Request{ID: 1, Prompt: 10, Output: 50})
	w.submit(500*ms, Request{ID: 2, Prompt: 10, Output: 50})
	w.run(30 * ms)
	w.Cancel(1)
	w.Cancel(2)
	w.Cancel(3)
	w.run(time.Second)
	for id := uint64(1); id <= 2; id++ {
		if e := w.last(id); e.Kind != Canceled || e.At != 30*ms {
			t.Errorf("request %d: %v at %v", id, e.Kind, e.At)
		}
	}
	if s := w.Worker(0); s.Running != 0 || s.KVUsed != 0 || s.Finished != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestSubmitRefuses(t *testing.T) {
	w := newWorld(t, small())
	w.run(time.Second)
	w.submit(2*time.Second, Request{ID: 1, Prompt: 1, Output: 1})
	for _, c := range []struct {
		at   time.Duration
		r    Request
		want error
	}{
		{0, Request{ID: 2, Prompt: 1, Output: 1}, ErrPast},
		{time.Second, Request{ID: 1, Prompt: 1, Output: 1}, ErrInFlight},
		{time.Second, Request{ID: 2, Prompt: 1600, Output: 1}, ErrTooLong},
	} {
		if err := w.Submit(c.at, c.r); !errors.Is(err, c.want) {
			t.Errorf("submit %+v: %v, want %v", c.r, err, c.want)
		}
	}
	for _, r := range []Request{{ID: 2, Output: 1}, {ID: 2, Prompt: 1}} {
		if err := w.Submit(time.Second, r); err == nil {
			t.Errorf("submit %+v: no error", r)
		}
	}
	w.submit(time.Second, Request{ID: 2, Prompt: 1599, Output: 1})
}

func TestSubmitWhileEventsAreHandled(t *testing.T) {
	w := newWorld(t, small())
	w.submit(0, Request{ID: 1, Prompt: 10, Output: 2})
	var ends []time.Duration
	w.Advance(time.Second, func(e Event) {
		if e.Kind != Done {
			return
		}
		ends = append(ends, e.At)
		if len(ends) < 3 {
			w.submit(e.At, Request{ID: 1, Prompt: 10, Output: 2})
		}
	})
	if !slices.Equal(ends, []time.Duration{22 * ms, 44 * ms, 66 * ms}) {
		t.Errorf("ends %v", ends)
	}
}
