package siblings

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

// Tracker compares the replicas of all services. It is a sink.Sink.
type Tracker struct {
	now   func() time.Time
	start time.Time

	mu     sync.Mutex
	jobs   map[probe.Key]sink.Job
	groups map[kin]*group
}

var _ sink.Sink = (*Tracker)(nil)

// kin identifies a group of siblings: a service, a role in it such as prefill or decode, a
// workload and, if any, a front door.
type kin struct{ service, role, workload, door string }

// New returns a Tracker without jobs; nil means time.Now.
func New(now func() time.Time) *Tracker {
	if now == nil {
		now = time.Now
	}
	return &Tracker{now: now, start: now(), jobs: map[probe.Key]sink.Job{}, groups: map[kin]*group{}}
}

func kinOf(j sink.Job) kin {
	k := kin{service: j.Target.Service, role: j.Target.Labels["role"], workload: j.Workload.Name}
	if j.Target.IsFrontDoor() {
		k.door = j.Target.Name
	}
	return k
}

// step returns the current step.
func (t *Tracker) step() int64 { return first + int64(t.now().Sub(t.start)/step) }

// Add implements sink.Sink.
func (t *Tracker) Add(j sink.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before, ok := t.jobs[j.Key()]; ok && kinOf(before) != kinOf(j) {
		t.remove(j.Key())
	}
	if j.Target.Service == "" {
		return
	}
	t.jobs[j.Key()] = j
	k, at := kinOf(j), t.step()
	g := t.groups[k]
	if g == nil {
		g = newGroup(at)
		t.groups[k] = g
	}
	g.policy, g.leastDifference = j.Siblings, j.Policy.LeastDifference
	if id := (name{target: j.Target.Name}); k.door == "" && g.replicas[id] == nil {
		g.replicas[id] = newReplica(id, g.judgedFrom(at))
	}
	t.divide(k.service)
}

// Remove implements sink.Sink and drops what is known of the job's replicas.
func (t *Tracker) Remove(key probe.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(key)
}

func (t *Tracker) remove(key probe.Key) {
	j, ok := t.jobs[key]
	if !ok {
		return
	}
	delete(t.jobs, key)
	k := kinOf(j)
	g := t.groups[k]
	delete(g.replicas, name{target: key.Target})
	if k.door != "" || len(g.replicas) == 0 {
		delete(t.groups, k)
	}
	t.divide(k.service)
}

// divide gives each group of a service its share of the accepted false pages.
func (t *Tracker) divide(service string) {
	n := 0.0
	for k := range t.groups {
		if k.service == service {
			n++
		}
	}
	for k, g := range t.groups {
		if k.service == service {
			g.share = 1 / n
		}
	}
}

// Observe implements sink.Sink. Only finished turns count.
func (t *Tracker) Observe(e probe.Event) {
	r, ok := e.(probe.Result)
	if !ok || r.Outcome.Own() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	j, ok := t.jobs[r.Key()]
	if !ok {
		return
	}
	k, at := kinOf(j), t.step()
	g := t.groups[k]
	g.pass(at)
	m := g.replica(name{r.Target, r.Worker}, k.door != "", at)
	if m == nil {
		return
	}
	var values [signals]probe.Opt[float64]
	for i, v := range baseline.Measured(&r, j.Workload.Timeouts) {
		if v.OK && v.V > 0 {
			values[i] = probe.Some(math.Log(v.V.Seconds()))
		}
	}
	g.take(m, &r, values, at)
}

// take adds a turn of a replica.
func (g *group) take(m *replica, r *probe.Result, values [signals]probe.Opt[float64], at int64) {
	if g.began == 0 {
		g.began = at
	}
	failed := r.Outcome.Failed() && !r.Outcome.WrongAnswer()
	switch answered := values != [signals]probe.Opt[float64]{}; {
	case failed && !answered && !r.Outcome.Busy():
		m.row++
	case !failed:
		if m.row >= restarted && !m.up && at-m.earlier > hour {
			m.restart(g.judgedFrom(at))
		}
		m.row = 0
	case m.row < restarted:
		m.row = 0 // the replica has answered
	}
	switch share, ok := g.failingElsewhere(m); {
	case r.Outcome.Busy():
	case ok && at >= m.since:
		m.failing.observe(failed, share, g.chances.failing, at)
	default:
		m.failing.count(failed, at)
	}
	m.take(r, values, g, at)
}

// replica returns the replica that answered, and creates a worker seen for the first time. It
// returns nil if the answer names no worker, or if there are too many.
func (g *group) replica(id name, door bool, at int64) *replica {
	if !door {
		id.worker = ""
	} else if id.worker == "" || len(id.worker) > maxName || !utf8.ValidString(id.worker) {
		return nil
	}
	m := g.replicas[id]
	if m == nil && door && len(g.replicas) < maxWorkers {
		m = newReplica(id, g.judgedFrom(at))
		g.replicas[id] = m
	}
	return m
}

// judgedFrom returns the first step in which a replica that is new at a step is judged.
func (g *group) judgedFrom(at int64) int64 {
	if g.began == 0 || at-g.began < settling {
		return 0
	}
	return at + int64(g.policy.WarmUp/step)
}

// Views returns all replicas by service, target, workload and worker.
func (t *Tracker) Views() []View {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.step()
	var out []View
	for k, g := range t.groups {
		g.pass(at)
		for id, m := range g.replicas {
			out = append(out, View{
				Service: k.service, Role: k.role, Target: id.target, Workload: k.workload, Worker: id.worker,
				Score: m.score, Ratios: m.ratios(), Failed: m.failing.share(),
			})
		}
	}
	slices.SortFunc(out, func(a, b View) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Worker, b.Worker))
	})
	return out
}
