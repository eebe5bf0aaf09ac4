package trace

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// Need is a step that must end, or be sent, before another step of the same session.
type Need struct {
	// Step is an index of Record.Turns.
	Step int
	// Sent says that Step need only be sent, not ended.
	Sent bool
	// Delay is the time from then until the dependent step: tools, or a user who reads.
	Delay time.Duration
}

// maxSteps bounds the requests of one session.
const maxSteps = 20_000

// graph collects the recorded requests of a session and of its sub-agents.
type graph struct {
	steps  []step
	agents []agent
	bytes  int // of the steps
	// named says that the format records the dependencies. cut says that earlier steps can be missing.
	named, cut bool
}

// step is one recorded request.
type step struct {
	agent      int // an index of agents
	start, end time.Duration
	turn       Turn
	// id names the step, and named holds its needs, if the format records them.
	id    string
	named []namedNeed
}

type namedNeed struct {
	id string
	Need
}

// agent is a session or one of its sub-agents.
type agent struct {
	parent int // an index of agents, -1 for the session itself
	// background says that the parent does not wait for the agent.
	background bool
	// last is the index of the latest added step, -1 without one.
	last int
	// end is when the agent reported back, if that is recorded. It can be later than its last step ended.
	end time.Duration
}

func (g *graph) addAgent(parent int) int {
	g.agents = append(g.agents, agent{parent: parent, last: -1})
	return len(g.agents) - 1
}

// add adds a step. Its prompt is stored as a difference from the previous prompt of its agent.
func (g *graph) add(s step) {
	if base := g.agents[s.agent].last; base >= 0 {
		t := &s.turn
		t.Base = base
		if len(t.Blocks) > 0 {
			t.Shared = sharedPrefix(g.blocks(base), t.Blocks)
			t.Blocks = slices.Clone(t.Blocks[t.Shared:])
		} else if len(t.Messages) > 0 {
			t.Shared = sharedPrefix(g.messages(base), t.Messages)
			t.Messages = slices.Clone(t.Messages[t.Shared:])
		}
		t.skipBases(func(i int) *Turn { return &g.steps[i].turn })
	}
	g.agents[s.agent].last = len(g.steps)
	g.steps = append(g.steps, s)
	g.bytes += stepCost + len(s.id) + s.turn.size()
	for _, n := range s.named {
		g.bytes += turnCost + len(n.id)
	}
}

func (g *graph) blocks(i int) []uint64 {
	return whole(i, func(i int) (*Turn, []uint64) { return &g.steps[i].turn, g.steps[i].turn.Blocks })
}

func (g *graph) messages(i int) []Message {
	return whole(i, func(i int) (*Turn, []Message) { return &g.steps[i].turn, g.steps[i].turn.Messages })
}

// whole returns the prompt of turn i, which the turns hold as differences. It is nil if the prompt has no
// elements of type T.
func whole[T any](i int, turn func(int) (*Turn, []T)) []T {
	t, own := turn(i)
	out := make([]T, t.Shared+len(own))
	copied := copy(out[t.Shared:], own)
	for n := t.Shared; n > 0; {
		t, own = turn(t.Base)
		if n > t.Shared {
			copied += copy(out[t.Shared:n], own)
			n = t.Shared
		}
	}
	if copied == 0 {
		return nil
	}
	return out
}

// skipBases replaces the base by an earlier turn that has the whole shared part, so that the turns between
// them need not be read for the prompt.
func (t *Turn) skipBases(turn func(int) *Turn) {
	for t.Shared > 0 && t.Shared <= turn(t.Base).Shared {
		t.Base = turn(t.Base).Base
	}
}

func sharedPrefix[T comparable](a, b []T) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// record returns the session with the dependencies of its steps.
func (g *graph) record(name string) (Record, error) {
	if err := g.sort(); err != nil {
		return Record{}, err
	}
	lanes, err := g.assignLanes()
	if err != nil {
		return Record{}, err
	}
	if !g.named {
		for i := range g.steps {
			s := &g.steps[i]
			s.turn.Needs = g.inferNeeds(i, lanes[s.agent])
			g.bytes += needCost * len(s.turn.Needs)
			if err := g.fits(); err != nil {
				return Record{}, err
			}
		}
		g.joinAgents()
		g.setDelays()
	}
	r := Record{Session: name, Graph: true, inOrder: true, At: slices.MinFunc(g.steps, func(a, b step) int { return cmp.Compare(a.start, b.start) }).start}
	for _, s := range g.steps {
		s.turn.Agent = s.agent
		if len(s.turn.Needs) == 0 {
			s.turn.After = s.start - r.At
		}
		r.Turns = append(r.Turns, s.turn)
	}
	return r, nil
}

// order returns the indexes of the steps by start, then by end.
func (g *graph) order() []int {
	order := make([]int, len(g.steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(g.steps[a].start, g.steps[b].start), cmp.Compare(g.steps[a].end, g.steps[b].end))
	})
	return order
}

// sort orders the steps by start, and translates the indexes and names of steps. Steps come after those that
// they name.
func (g *graph) sort() error {
	order := g.order()
	if g.named {
		var err error
		if order, err = g.orderNeeds(order); err != nil {
			return err
		}
	}
	position := make([]int, len(order))
	sorted := make([]step, len(order))
	for i, from := range order {
		sorted[i], position[from] = g.steps[from], i
	}
	for i := range sorted {
		t := &sorted[i].turn
		t.Base = position[t.Base]
		for k := range t.Needs {
			t.Needs[k].Step = position[t.Needs[k].Step]
		}
	}
	g.steps = sorted
	return nil
}

// inferNeeds returns the steps after which step i came in the recording: of each lane of its agent
// the last one that had ended, unless another of them came later still. The first step of a sub-agent
// needs the last step that its parent had sent.
func (g *graph) inferNeeds(i int, lanes [][]int) []Need {
	s := &g.steps[i]
	var ended []int
	for _, lane := range lanes {
		n := sort.Search(len(lane), func(k int) bool { return lane[k] >= i || g.steps[lane[k]].end > s.start })
		if n > 0 {
			ended = append(ended, lane[n-1])
		}
	}
	var needs []Need
	latest := -1 // of them, the one that started last
	if len(ended) > 0 {
		latest = slices.Max(ended)
	}
	for _, a := range ended {
		if a == latest || g.steps[a].end > g.steps[latest].start {
			needs = append(needs, Need{Step: a})
		}
	}
	parent := g.agents[s.agent].parent
	for k := i - 1; needs == nil && parent >= 0 && k >= 0; k-- {
		if g.steps[k].agent == parent {
			needs = []Need{{Step: k, Sent: g.steps[k].end > s.start}}
		}
	}
	return needs
}

// joinAgents lets the first step of a parent after a sub-agent need the last step of the sub-agent.
func (g *graph) joinAgents() {
	ends := make([]int, len(g.agents)) // the step of each agent that ends last
	for a := range ends {
		ends[a] = -1
	}
	for i, s := range g.steps {
		if e := ends[s.agent]; e < 0 || s.end >= g.steps[e].end {
			ends[s.agent] = i
		}
	}
	for a, e := range ends {
		if g.agents[a].parent < 0 || g.agents[a].background || e < 0 {
			continue
		}
		end := max(g.steps[e].end, g.agents[a].end)
		for i := e + 1; i < len(g.steps); i++ {
			if s := &g.steps[i]; s.agent == g.agents[a].parent && s.start >= end {
				s.turn.Needs = append(s.turn.Needs, Need{Step: e})
				break
			}
		}
	}
}

// setDelays sets the time between the last need of each step and the step.
func (g *graph) setDelays() {
	for i := range g.steps {
		s := &g.steps[i]
		met := time.Duration(0)
		for _, n := range s.turn.Needs {
			if n.Sent {
				met = g.steps[n.Step].start
			} else {
				met = max(met, g.steps[n.Step].end)
			}
		}
		for k := range s.turn.Needs {
			s.turn.Needs[k].Delay = max(s.start-met, 0)
		}
	}
}
