package trace

import "fmt"

// orderNeeds looks up the steps that others name. It returns the order with each step after those that it
// needs.
func (g *graph) orderNeeds(order []int) ([]int, error) {
	byID := make(map[string]int, len(g.steps))
	for i := range g.steps {
		id := g.steps[i].id
		if _, twice := byID[id]; twice {
			return nil, fmt.Errorf("request_id %.40q occurs twice; rename one of the requests", id)
		}
		byID[id] = i
	}
	for i := range g.steps {
		if err := g.findNeeds(i, byID); err != nil {
			return nil, err
		}
	}
	n := needsOrder{graph: g, state: make([]visit, len(g.steps))}
	for _, i := range order {
		if err := n.add(i); err != nil {
			return nil, err
		}
	}
	return n.out, nil
}

// findNeeds looks up the names of a step's needs.
func (g *graph) findNeeds(i int, byID map[string]int) error {
	s := &g.steps[i]
	for _, n := range s.named {
		at, known := byID[n.id]
		switch {
		case known:
			n.Step = at
			s.turn.Needs = append(s.turn.Needs, n.Need)
		case !g.cut:
			return fmt.Errorf("request %.40q needs %.40q, which is not a request of the same play or session; correct the name or leave the session out", s.id, n.id)
		}
	}
	return nil
}

type visit int8

const (
	unseen visit = iota
	begun
	finished
)

// needsOrder visits steps, and before each those that it needs.
type needsOrder struct {
	*graph
	state []visit
	out   []int
}

func (o *needsOrder) add(i int) error {
	s := &o.steps[i]
	switch o.state[i] {
	case finished:
		return nil
	case begun:
		return fmt.Errorf("request %.40q needs itself, directly or through other requests; remove one of the dependencies", s.id)
	}
	o.state[i] = begun
	for _, n := range s.turn.Needs {
		if err := o.add(n.Step); err != nil {
			return err
		}
	}
	o.state[i] = finished
	o.out = append(o.out, i)
	return nil
}

// lastStepSearch finds the lane of a named step: one whose last step always ends before the step starts.
type lastStepSearch struct {
	*graph
	seen []int // by step: the number of the search that saw it, plus 1
	next []int
}

// lane returns the lane of an agent for step i, or the number of a new lane. It walks back through the needs.
func (l *lastStepSearch) lane(i int, lanes [][]int) int {
	if len(lanes) == 0 {
		return 0
	}
	ends := make(map[int]int, len(lanes)) // the lanes by their last step
	first := i
	for k, lane := range lanes {
		ends[last(lane)] = k
		first = min(first, last(lane))
	}
	l.next = append(l.next[:0], i)
	for len(l.next) > 0 {
		at := l.next[0]
		l.next = l.next[1:]
		for _, n := range l.steps[at].turn.Needs {
			if k, isLast := ends[n.Step]; isLast && !n.Sent {
				return k
			}
			if n.Step > first && l.seen[n.Step] != i+1 {
				l.seen[n.Step] = i + 1
				l.next = append(l.next, n.Step)
			}
		}
	}
	return len(lanes)
}
