package probe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"synthetic/internal/probe/workload/trace"
)

// LaneSink is a Sink whose Observe is not safe for concurrent use. The lanes of a recorded session run side
// by side, and each observes a Sink of its own.
type LaneSink interface {
	Sink
	Lane() Sink
}

// board knows which steps of a recorded session were sent and have ended.
type board struct {
	begin time.Time
	steps []boardStep
}

type boardStep struct {
	sent, ended     chan struct{} // closed when it happens, or can no longer happen
	sentAt, endedAt time.Time     // zero if it did not happen
}

// lane is a row of steps that one dialogue sends.
type lane struct {
	*board
	agent int
	steps []int // indexes of board.steps
	done  int
}

// replay runs a recorded session: each lane in a goroutine. Each agent is a session of its own for routers; all
// share the trace and the cache salt. The result sums up all lanes.
func (d *dialogue) replay(ctx context.Context, sink Sink) Conversation {
	plan := d.plan
	b := &board{begin: plan.Scheduled, steps: make([]boardStep, len(plan.Conversation.Steps))}
	var lanes []*lane
	for i, s := range plan.Conversation.Steps {
		b.steps[i] = boardStep{sent: make(chan struct{}), ended: make(chan struct{})}
		for s.Lane >= len(lanes) {
			lanes = append(lanes, &lane{board: b, agent: s.Agent})
		}
		lanes[s.Lane].steps = append(lanes[s.Lane].steps, i)
	}
	results := make([]Conversation, len(lanes))
	sessions := map[int]string{lanes[0].agent: d.session.id}
	var others sync.WaitGroup
	for k := 1; k < len(lanes); k++ {
		part, own := plan, sink
		part.ID = fmt.Sprintf("%s.%d", plan.ID, k)
		part.Memory, _ = plan.Memory.Beside(0) // nothing is always there
		if s, ok := sink.(LaneSink); ok {
			own = s.Lane()
		}
		other := newDialogue(d.prober, &part, d.client)
		other.result.TraceID, other.result.SpanID = d.result.TraceID, d.result.SpanID
		other.lane, other.extra = lanes[k], d.extra
		if id, known := sessions[lanes[k].agent]; known {
			other.session.id = id
		}
		sessions[lanes[k].agent] = other.session.id
		others.Go(func() {
			defer part.Memory.Release()
			results[k] = other.runLane(ctx, own)
		})
	}
	d.lane = lanes[0]
	results[0] = d.runLane(ctx, sink)
	others.Wait()
	for _, l := range results[1:] {
		results[0].Merge(l)
	}
	return results[0]
}

// runLane runs the steps of a lane. Steps that it does not reach can no longer be met.
func (d *dialogue) runLane(ctx context.Context, sink Sink) Conversation {
	defer func() {
		for _, i := range d.lane.steps[d.lane.done:] {
			d.lane.board.close(i)
		}
	}()
	return d.converse(ctx, sink)
}

// prepareStep waits for the needs of the next step, and until it is due.
func (d *dialogue) prepareStep(ctx context.Context) (due time.Time, ok bool) {
	i := d.lane.steps[d.userMessages]
	d.userMessages++
	step := &d.plan.Conversation.Steps[i]
	if len(step.Needs) == 0 {
		due = d.lane.begin.Add(step.After)
	}
	for _, n := range step.Needs {
		at, ok := d.await(ctx, n)
		if !ok {
			return due, false
		}
		if at = at.Add(n.Delay); at.After(due) {
			due = at
		}
	}
	if free := d.lastEnd.Add(d.drained); free.After(due) { // also a lane that is slower than recorded
		due = free
	}
	if !d.pause(ctx, time.Until(due)) {
		return due, false
	}
	d.history = d.plan.Conversation.Prompt(i)
	d.lane.board.steps[i].sentAt = time.Now()
	close(d.lane.board.steps[i].sent)
	return due, true
}

// await waits until a need is met and returns when it was. It returns false if it cannot be met.
func (d *dialogue) await(ctx context.Context, n trace.Need) (at time.Time, ok bool) {
	s := &d.lane.board.steps[n.Step]
	met, metAt := s.ended, &s.endedAt
	if n.Sent {
		met, metAt = s.sent, &s.sentAt
	}
	select {
	case <-met:
	case <-d.plan.Stop:
		return at, false
	case <-ctx.Done():
		return at, false
	}
	return *metAt, !metAt.IsZero()
}

// ended notes the end of the current step. A failed one does not meet needs.
func (l *lane) ended(r *Result) {
	if l == nil {
		return
	}
	i := l.steps[l.done]
	if r.Outcome == Success {
		l.board.steps[i].endedAt = r.End
	}
	l.board.close(i)
	l.done++
}

// close says that nothing more happens with a step.
func (b *board) close(i int) {
	s := &b.steps[i]
	if s.sentAt.IsZero() {
		close(s.sent)
	}
	close(s.ended)
}
