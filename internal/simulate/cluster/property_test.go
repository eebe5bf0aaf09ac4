package cluster

import (
	"math/rand/v2"
	"testing"
	"time"
)

// randomConfig draws a configuration that is small enough to reach every limit.
func randomConfig(r *rand.Rand) Config {
	e := engine{
		MaxSeqs: 1 + r.IntN(20), BlockTokens: 1 + r.IntN(20), Lookahead: r.IntN(4),
		Padding: r.IntN(2) == 0,
		Cost:    cost{Base: .001 + .02*r.Float64(), Token: 1e-4 * r.Float64(), KVToken: 1e-7, Prefill: 1e-4, Pair: 1e-8, Eager: .001, Draft: .001},
	}
	if r.IntN(2) == 0 {
		e.Speculation = Speculation{Draft: 1 + r.IntN(5), Acceptance: r.Float64(), KVTokens: r.IntN(50)}
	}
	if r.IntN(2) == 0 {
		e.Graphs = []int{1, 2, 4, 8, 16}
	}
	e.MaxBatchedTokens = 1 + e.Speculation.Draft + r.IntN(300)
	e.KVTokens = e.Speculation.KVTokens + e.BlockTokens + 260 + r.IntN(1500)
	return Config{
		Workers: 1 + r.IntN(4), Engine: e, Seed: r.Uint64(),
		Policy: []policy{roundRobin, KVAware}[r.IntN(2)],
		Frontend: Frontend{
			RequestDelay: time.Duration(r.IntN(30)) * time.Millisecond, Spread: r.Float64(), ResponseDelay: time.Duration(r.IntN(30)) * time.Millisecond,
			Deadline: time.Duration(r.IntN(2)*r.IntN(5000)) * time.Millisecond,
		},
		Faults: randomFaults(r),
	}
}

// randomFaults draws faults that all end.
func randomFaults(r *rand.Rand) []Fault {
	var all []Fault
	kinds := []FaultKind{SlowPrefill, SlowDecode, Hang, WorkerLoss}
	for range r.IntN(5) {
		f := Fault{
			Kind: kinds[r.IntN(len(kinds))], At: time.Duration(r.IntN(5000)) * time.Millisecond,
			For: time.Duration(1+r.IntN(2000)) * time.Millisecond, Factor: 3 * r.Float64(),
		}
		if r.IntN(2) == 0 {
			f.Workers = []int{0}
		}
		all = append(all, f)
	}
	return all
}

// trial is a run of random requests. Its methods check what must hold in every run.
type trial struct {
	*testing.T
	cluster *Cluster
	config  Config
	sent    map[uint64]Request
	got     map[uint64]int
	ended   map[uint64]Kind
	last    time.Duration
	checked map[*worker]progress // at the last check
}

type progress struct {
	steps, epoch uint64
	busy         bool
}

func (t *trial) handle(e Event) {
	if e.At < t.last || e.At != t.cluster.Now() {
		t.Errorf("event at %v after an event at %v, now is %v", e.At, t.last, t.cluster.Now())
	}
	t.last = e.At
	if k, ended := t.ended[e.ID]; ended {
		t.Errorf("request %d: event %v after its last event %v", e.ID, e.Kind, k)
	}
	r := t.sent[e.ID]
	if e.Cached >= r.Prompt {
		t.Errorf("request %d: %d of %d prompt tokens cached", e.ID, e.Cached, r.Prompt)
	}
	t.got[e.ID] += e.Tokens
	if e.Kind == Tokens {
		if e.Tokens < 1 || e.Tokens > 1+t.config.Engine.Speculation.Draft {
			t.Errorf("request %d: an event of %d tokens", e.ID, e.Tokens)
		}
		return
	}
	t.ended[e.ID] = e.Kind
	if n := t.got[e.ID]; n > r.Output || e.Kind == Done && n != r.Output {
		t.Errorf("request %d: %d of %d tokens before the event %v", e.ID, n, r.Output, e.Kind)
	}
}

// check checks the limits and the memory of a worker between steps.
func (t *trial) check(w *worker) {
	e := t.config.Engine
	tokens := 0
	for _, p := range w.batch {
		tokens += p.tokens
	}
	if len(w.running) > e.MaxSeqs || len(w.batch) > e.MaxSeqs || tokens > e.MaxBatchedTokens {
		t.Errorf("batch of %d, %d running, %d tokens; the limits are %d and %d", len(w.batch), len(w.running), tokens, e.MaxSeqs, e.MaxBatchedTokens)
	}
	users := make([]int32, len(w.pool.blocks))
	for _, s := range w.running {
		if held := len(s.blocks) * e.BlockTokens; s.computed > held {
			t.Errorf("request %d: %d tokens in blocks that hold %d", s.ID, s.computed, held)
		}
		for _, i := range s.blocks {
			users[i]++
		}
	}
	for _, s := range w.waiting {
		if len(s.blocks) > 0 {
			t.Errorf("request %d waits and holds %d blocks", s.ID, len(s.blocks))
		}
	}
	free := make([]bool, len(users))
	listed := 0
	for i := w.pool.blocks[0].next; i != 0 && listed <= len(users); i = w.pool.blocks[i].next {
		free[i] = true
		listed++
	}
	used, cached := 0, 0
	for i := 1; i < len(users); i++ {
		b := &w.pool.blocks[i]
		if b.users != users[i] || free[i] != (b.users == 0) {
			t.Errorf("block %d: %d users, counted %d; free %v", i, b.users, users[i], free[i])
		}
		if b.users > 0 {
			used++
		}
		if at, ok := w.pool.index[b.hash]; b.cached {
			cached++
			if !ok || int(at) != i {
				t.Errorf("block %d is cached, but the index has %d", i, at)
			}
		}
	}
	if used+w.pool.free != w.pool.total() || listed != w.pool.free || cached != len(w.pool.index) {
		t.Errorf("%d used and %d free (%d listed) of %d blocks, %d cached (%d in the index)",
			used, w.pool.free, listed, w.pool.total(), cached, len(w.pool.index))
	}
}

// randomRequest draws a request. Prompts of the same family share their first blocks.
func randomRequest(r *rand.Rand, id uint64, blockTokens int) Request {
	q := Request{ID: id, Prompt: 1 + r.IntN(200), Output: 1 + r.IntN(50)}
	family := r.Uint64N(4) + 1
	for n := range (q.Prompt + q.Output) / blockTokens {
		if n > 10 {
			family = id << 8
		}
		q.Chain = append(q.Chain, family<<32|uint64(n))
	}
	return q
}

// play runs a trial until every request has ended.
func play(t *testing.T, seed uint64) *trial {
	r := rand.New(rand.NewPCG(seed, 1))
	config := randomConfig(r)
	c := New(config)
	x := &trial{
		T: t, cluster: c, config: config, sent: map[uint64]Request{}, got: map[uint64]int{},
		ended: map[uint64]Kind{}, checked: map[*worker]progress{},
	}
	for id := range uint64(150) {
		q := randomRequest(r, id, config.Engine.BlockTokens)
		x.sent[id] = q
		if err := c.Submit(c.Now()+time.Duration(r.IntN(50))*time.Millisecond, q); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		x.advance(c.Now() + time.Duration(r.IntN(40))*time.Millisecond)
		if r.IntN(10) == 0 {
			c.Cancel(r.Uint64N(id + 1))
		}
	}
	for at, ok := c.Next(); ok; at, ok = c.Next() {
		x.advance(at)
	}
	return x
}

// advance moves time and checks a worker whenever one of its steps started or ended.
func (t *trial) advance(to time.Duration) {
	for at, ok := t.cluster.Next(); ok && at <= to; at, ok = t.cluster.Next() {
		t.cluster.Advance(at, t.handle)
		for _, w := range t.cluster.workers {
			if now := (progress{w.steps, w.epoch, w.busy}); now != t.checked[w] {
				t.checked[w] = now
				t.check(w)
			}
		}
	}
	t.cluster.Advance(to, t.handle)
}

// checkEmpty checks that every request ended and that no memory is in use.
func (t *trial) checkEmpty() {
	if len(t.ended) != len(t.sent) || len(t.cluster.inFlight) != 0 {
		t.Errorf("%d of %d requests ended, %d are in flight", len(t.ended), len(t.sent), len(t.cluster.inFlight))
	}
	for i, w := range t.cluster.workers {
		if w.pool.free != w.pool.total() || len(w.running)+len(w.waiting) > 0 {
			t.Errorf("worker %d: %d of %d blocks free, %d running, %d waiting", i, w.pool.free, w.pool.total(), len(w.running), len(w.waiting))
		}
		if d := w.demand; len(d.active) > 0 || d.unshared != 0 || d.prefill != 0 {
			t.Errorf("worker %d: the router still counts %d + %d blocks, %d tokens", i, len(d.active), d.unshared, d.prefill)
		}
	}
}

func TestConservation(t *testing.T) {
	outcomes := map[Kind]int{}
	var preempted, hits uint64
	for seed := range uint64(300) {
		x := play(t, seed)
		x.checkEmpty()
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, x.config)
		}
		for _, k := range x.ended {
			outcomes[k]++
		}
		for i := range x.config.Workers {
			preempted += x.cluster.Worker(i).Preemptions
			hits += x.cluster.Worker(i).CachedTokens
		}
	}
	// The trials prove little unless they reach every kind of event.
	for _, k := range []Kind{Done, Unavailable, Expired, Canceled, Failed} {
		if outcomes[k] == 0 {
			t.Errorf("no request ended with %v", k)
		}
	}
	if preempted == 0 || hits == 0 {
		t.Errorf("%d preemptions, %d cached tokens", preempted, hits)
	}
}
