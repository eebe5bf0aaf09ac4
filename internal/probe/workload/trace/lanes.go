package trace

import "fmt"

// maxLanes bounds the requests of one agent that overlap. Each lane is a goroutine of the replay.
const maxLanes = 256

// lanes are the steps of each agent's lanes, by agent and lane.
type lanes struct {
	of [][][]int
	// numbers holds the number of each lane within the session, which has count lanes.
	numbers [][]int
	count   int
}

// assignLanes gives each step a lane whose steps do not overlap: in time, or because each needs the one
// before. It returns the steps of each agent's lanes.
func (g *graph) assignLanes() ([][][]int, error) {
	l := lanes{of: make([][][]int, len(g.agents)), numbers: make([][]int, len(g.agents))}
	free := g.freeLane
	if g.named {
		free = (&lastStepSearch{graph: g, seen: make([]int, len(g.steps))}).lane
	}
	for i := range g.steps {
		s := &g.steps[i]
		k := free(i, l.of[s.agent])
		if k == maxLanes {
			return nil, fmt.Errorf("more than %d requests of one agent may run side by side; leave the session out", maxLanes)
		}
		s.turn.Lane = l.put(i, s.agent, k)
	}
	return l.of, nil
}

// put adds a step to lane k of an agent, which may be a new one, and returns the number of the lane.
func (l *lanes) put(step, agent, k int) int {
	if k == len(l.of[agent]) {
		l.of[agent] = append(l.of[agent], nil)
		l.numbers[agent] = append(l.numbers[agent], l.count)
		l.count++
	}
	l.of[agent][k] = append(l.of[agent][k], step)
	return l.numbers[agent][k]
}

// freeLane returns the lane whose last step ended latest before step i started, or the number of a new lane.
func (g *graph) freeLane(i int, lanes [][]int) int {
	best := len(lanes)
	for k, lane := range lanes {
		end := g.steps[last(lane)].end
		if end <= g.steps[i].start && (best == len(lanes) || end > g.steps[last(lanes[best])].end) {
			best = k
		}
	}
	return best
}

func last(steps []int) int { return steps[len(steps)-1] }
