package worlds

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/watch"
)

// Names of the simulated job.
const (
	targetName   = "chat"
	workloadName = "chat"
)

// traffic simulates the conversations with one deployment, event by event.
type traffic struct {
	model      Model
	rng        *rand.Rand
	course     *course
	injections []Injection
	start      time.Time
	sink       probe.Sink
	// setNow sets the clock of the sink.
	setNow func(time.Time)
	events events
	// pace skips some arrivals, as sign requires; nil for a constant rate.
	pace *workload.Pace
	sign func() workload.Sign
	ages *workload.Ages
	// arrival is the start of the next conversation.
	arrival       time.Duration
	current       int // the current or the next injection
	turns, bursts int
}

// Play plays a world into a sink, from Epoch on, with conversations at a constant rate. setNow gets the time of each
// event before the sink gets the event.
func Play(o SimulationOptions, to probe.Sink, setNow func(time.Time)) {
	t := newTraffic(o, to)
	t.setNow = setNow
	t.advance(o.Length)
}

func newTraffic(o SimulationOptions, sink probe.Sink) *traffic {
	return &traffic{
		model: o.Model, rng: rand.New(rand.NewPCG(o.Seed, 1)), course: newCourse(o.Model, o.Seed, o.Length),
		ages:       workload.NewAges(workload.Timeouts{FirstToken: o.Model.FirstToken}),
		injections: o.Injections, start: Epoch(), sink: sink,
	}
}

// probe adapts the rate to the signs of faults that a tracker has of the job.
func (t *traffic) probe(j fleet.Job, tracker *watch.Tracker) {
	t.pace, t.sign = workload.NewPace(j.Traffic), func() workload.Sign { return tracker.Sign(j.Key()) }
}

type conversation struct {
	next        time.Duration // time of its next event
	turn, turns int
	running     bool
	burst       bool
	result      probe.Result
	endAge      func(at time.Time, succeeded bool)
}

// events is a heap of conversations, ordered by the time of the next event.
type events []*conversation

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].next < e[j].next }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(*conversation)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// advance plays all events up to a time after the start.
func (t *traffic) advance(to time.Duration) {
	for {
		switch {
		case len(t.events) > 0 && t.events[0].next <= min(to, t.arrival):
			t.step(t.events[0])
		case t.arrival <= to:
			t.startConversation()
		default:
			return
		}
	}
}

// startConversation starts a conversation and draws the start of the next one.
func (t *traffic) startConversation() {
	c := &conversation{next: t.arrival, turns: t.model.TurnsMin + t.rng.IntN(t.model.TurnsMax-t.model.TurnsMin+1)}
	t.arrival += time.Duration(t.rng.ExpFloat64() / t.perMinute() * float64(time.Minute))
	t.setNow(t.start.Add(c.next))
	if t.pace != nil {
		at, sign := t.start.Add(c.next), t.sign()
		sign.Overdue = t.ages.Overdue(at)
		start := t.pace.Decide(at, sign)
		if start.Changed {
			t.sink.Observe(probe.Paced{Target: targetName, Workload: workloadName, Rate: t.pace.Rate(), Why: start.Reason})
		}
		if start.Reason != "" {
			t.bursts++
		}
		if c.burst = start.Burst; !start.Due {
			return
		}
	}
	t.sink.Observe(probe.ConversationStart{Target: targetName, Workload: workloadName})
	heap.Push(&t.events, c)
}

// perMinute returns the rate of arrivals before pace skips some.
func (t *traffic) perMinute() float64 {
	if t.pace != nil {
		return t.pace.BurstRate * 60
	}
	return t.model.ConversationsPerMinute
}

// step starts or ends a turn.
func (t *traffic) step(c *conversation) {
	now := t.start.Add(c.next)
	t.setNow(now)
	if !c.running {
		c.turn++
		t.drawTurn(c, now)
		c.endAge = t.ages.Begin(now)
		c.running = true
		c.next = c.result.End.Sub(t.start)
		heap.Fix(&t.events, 0)
		return
	}
	t.sink.Observe(c.result)
	c.endAge(now, c.result.Outcome == probe.Success)
	c.running = false
	if c.result.Outcome == probe.Success && c.turn < c.turns {
		c.next += time.Duration(t.rng.Float64() * 2 * float64(time.Second)) // time to think
		heap.Fix(&t.events, 0)
		return
	}
	heap.Pop(&t.events)
	t.sink.Observe(probe.Conversation{
		Target: targetName, Workload: workloadName, Scheduled: c.result.Sent, End: now, Outcome: c.result.Outcome,
		Turns: c.turn,
	})
}

// drawTurn draws the result of the next turn of a conversation.
func (t *traffic) drawTurn(c *conversation, now time.Time) {
	t.turns++
	kind, median := probe.First, t.model.FirstTTFT
	if c.turn > 1 {
		kind, median = probe.Followup, t.model.FollowupTTFT
	}
	t.sink.Observe(probe.Start{Target: targetName, Workload: workloadName, Kind: kind})
	c.result = probe.Result{
		Target: targetName, Workload: workloadName, Kind: kind, Sent: now,
		Asked: probe.Asked{Turn: c.turn, Burst: c.burst, Scheduled: now}, // no trace: exemplars would double the time of a run
	}
	fault, after, on := t.fault(c.next)
	hit := on && fault.hits(t.rng)
	switch {
	case hit && fault.Kind == Hang:
		t.fail(c, probe.TimeoutFirstToken, t.model.FirstToken)
	case hit && fault.Kind == Outage:
		t.fail(c, probe.HTTP5xx, 5*time.Millisecond)
	case t.rng.Float64() < t.model.Failures:
		t.fail(c, probe.HTTP5xx, 5*time.Millisecond)
	default:
		slow, pace := 1.0, 1.0
		if hit && fault.Kind == Slow {
			slow = fault.size(after)
		} else if hit && fault.Kind == SlowDecode {
			pace = fault.size(after)
		}
		t.drawAnswer(c, median.Seconds()*slow, pace)
	}
}

func (t *traffic) fail(c *conversation, o probe.Outcome, after time.Duration) {
	c.result.Outcome = o
	c.result.End = c.result.Sent.Add(after)
}

// drawAnswer draws the times of a turn that succeeds or times out.
func (t *traffic) drawAnswer(c *conversation, median, pace float64) {
	m, i := t.model, t.course.index(c.next)
	log, missed := m.deviation(t.course, i, t.rng)
	uncached, cached := m.prompt(t.course, i, t.rng), reused
	if missed {
		cached = 0
	}
	r := &c.result
	if c.turn > 1 {
		r.ContextTokens = probe.Some(reused)
	}
	ttft := median * math.Exp(log) * prefill(uncached)
	// The load raises TPOT less than TTFT, which includes the queue.
	tpot := m.TPOT.Seconds() * pace * math.Exp(float64(t.course.level[i])*cmp.Or(m.pace, 1./3)+m.PaceSigma*t.rng.NormFloat64())
	if ttft > m.FirstToken.Seconds() {
		t.fail(c, probe.TimeoutFirstToken, m.FirstToken)
		return
	}
	r.Outcome, r.Events = probe.Success, m.Output
	r.TTFT = probe.Some(time.Duration(ttft * float64(time.Second)))
	r.AnswerTTFT = r.TTFT
	r.TPOT = probe.Some(time.Duration(tpot * float64(time.Second)))
	r.PromptTokens, r.CachedTokens = probe.Some(reused+uncached), probe.Some(cached)
	r.OutputTokens = probe.Some(m.Output)
	r.End = r.Sent.Add(r.TTFT.V + time.Duration(m.Output-1)*r.TPOT.V)
}

// fault returns the active fault, and how long it has been active.
func (t *traffic) fault(at time.Duration) (f Fault, after time.Duration, on bool) {
	for t.current < len(t.injections) && t.injections[t.current].To <= at {
		t.current++
	}
	if t.current == len(t.injections) || t.injections[t.current].From > at {
		return Fault{}, 0, false
	}
	i := t.injections[t.current]
	return i.Fault, at - i.From, true
}
