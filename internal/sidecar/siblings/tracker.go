// Package siblings compares the replicas of a service with each other. It finds a replica that
// is slower, or fails more, than its siblings in the same minutes, without any baseline.
//
// Siblings are the targets of one service with the same workload, or the workers behind a front
// door that answers name. A change of all siblings moves their median and is not reported here.
// The package is deterministic: the same turns at the same times give the same scores.
// docs/background/siblings.md has the statistics and their quality.
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

const (
	// step is the time between two comparisons.
	step = 10 * time.Second
	// hour is its number of steps.
	hour = int64(time.Hour / step)
	// firstStep is large enough for windows and restarts to look back.
	firstStep = hour + historySteps
	// maxWorkers bounds the workers of a front door, maxName the bytes of a worker's name.
	maxWorkers, maxName = 128, 128
	// workerExpiry is the number of steps without a turn after which a worker is dropped.
	workerExpiry = int64(15 * time.Minute / step)
)

// View says how a replica compares with its siblings.
type View struct {
	// Role is the label role of the target, such as prefill or decode; "" for none.
	Service, Role, Target, Workload string
	// Worker is its name behind a front door; "" for a target.
	Worker string
	// Score is the distance to a page: at 1 it pages.
	Score float64
	// Ratios are its recent latencies divided by the median of all, by index of probe.TurnKinds
	// and sink.Signals.
	Ratios [kinds][signals]probe.Opt[float64]
	// Failed is the share of recent turns that failed.
	Failed probe.Opt[float64]
}

// Tracker compares the replicas of all services. It is a sink.Sink.
type Tracker struct {
	now   func() time.Time
	start time.Time

	mu     sync.Mutex
	jobs   map[probe.Key]sink.Job
	groups map[groupKey]*group
}

var _ sink.Sink = (*Tracker)(nil)

// groupKey identifies a group of siblings. frontDoor is "" for a group of targets.
type groupKey struct{ service, role, workload, frontDoor string }

// New returns a Tracker without jobs. now is for tests; nil means time.Now.
func New(now func() time.Time) *Tracker {
	if now == nil {
		now = time.Now
	}
	return &Tracker{now: now, start: now(), jobs: map[probe.Key]sink.Job{}, groups: map[groupKey]*group{}}
}

func keyOf(j sink.Job) groupKey {
	k := groupKey{service: j.Target.Service, role: j.Target.Labels["role"], workload: j.Workload.Name}
	if j.Target.IsFrontDoor() {
		k.frontDoor = j.Target.Name
	}
	return k
}

func (t *Tracker) step() int64 { return firstStep + int64(t.now().Sub(t.start)/step) }

// Add implements sink.Sink.
func (t *Tracker) Add(j sink.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, at := keyOf(j), t.step()
	if previous, ok := t.jobs[j.Key()]; ok && keyOf(previous) != k {
		t.remove(j.Key())
	}
	if j.Target.Service == "" {
		return
	}
	t.jobs[j.Key()] = j
	g := t.groups[k]
	if g == nil {
		g = newGroup(at)
		t.groups[k] = g
	}
	if id := (replicaID{target: j.Target.Name}); k.frontDoor == "" && g.replicas[id] == nil {
		g.replicas[id] = newReplica(id, g.judgedFrom(at))
	}
	t.shareFalsePages(k.service)
}

// Remove implements sink.Sink and forgets the job's replicas.
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
	k := keyOf(j)
	g := t.groups[k]
	delete(g.replicas, replicaID{target: key.Target})
	if k.frontDoor != "" || len(g.replicas) == 0 {
		delete(t.groups, k)
	}
	t.shareFalsePages(k.service)
}

// shareFalsePages divides a service's accepted false pages equally among its groups.
func (t *Tracker) shareFalsePages(service string) {
	var groups []*group
	for k, g := range t.groups {
		if k.service == service {
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		g.share = 1 / float64(len(groups))
	}
}

// Observe implements sink.Sink. It uses only finished turns.
func (t *Tracker) Observe(e probe.Event) {
	turn, ok := e.(probe.Result)
	if !ok || turn.Outcome.Own() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	j, ok := t.jobs[turn.Key()]
	if !ok {
		return
	}
	k, at := keyOf(j), t.step()
	g := t.groups[k]
	g.compareUntil(at)
	r := g.replica(replicaID{turn.Target, turn.Worker}, k.frontDoor != "", at)
	if r == nil {
		return
	}
	var values [signals]probe.Opt[float64]
	for i, v := range baseline.Measured(&turn, j.Workload.Timeouts) {
		if v.OK && v.V > 0 {
			values[i] = probe.Some(math.Log(v.V.Seconds()))
		}
	}
	g.addTurn(r, &turn, values, at)
}

// replica returns the replica that answered, and adds a worker that is new. It returns nil if the
// answer names no worker, or if there are too many.
func (g *group) replica(id replicaID, frontDoor bool, at int64) *replica {
	if !frontDoor {
		id.worker = ""
	} else if id.worker == "" || len(id.worker) > maxName || !utf8.ValidString(id.worker) {
		return nil
	}
	r := g.replicas[id]
	if r == nil && frontDoor && len(g.replicas) < maxWorkers {
		r = newReplica(id, g.judgedFrom(at))
		g.replicas[id] = r
	}
	return r
}

// Views returns all replicas, ordered by service, target, workload and worker.
func (t *Tracker) Views() []View {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.step()
	var out []View
	for k, g := range t.groups {
		g.compareUntil(at)
		for id, r := range g.replicas {
			out = append(out, View{
				Service: k.service, Role: k.role, Target: id.target, Workload: k.workload, Worker: id.worker,
				Score: r.score, Ratios: r.ratios(), Failed: r.failing.share(),
			})
		}
	}
	slices.SortFunc(out, func(a, b View) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Target, b.Target),
			cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Worker, b.Worker))
	})
	return out
}
