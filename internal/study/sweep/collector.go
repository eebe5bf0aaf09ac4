package sweep

import (
	"slices"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sketch"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// never is the length of a snapshot that has no planned end.
const never = 1 << 62

// collector turns the events of a level into snapshots. It drops events before begin, which
// belong to the warm-up. A turn that ended within the measurement counts in the snapshot and
// the block of its end; a later one counts in the tail. The order of results does not matter.
type collector struct {
	objectives []slo.Objective
	block      time.Duration

	mu    sync.Mutex
	spans []*span
	tail  runs.Block
	// live is the number of turns in flight, at the current span at the last change.
	live, at int
	streak   streak
	holding  int // the number of conversations in flight since held
	held     time.Time
	// turns and failed count what ended so far, ttft and tpot hold its latencies.
	turns, failed uint64
	ttft, tpot    sketch.Sketch
	records       *recorder // records of every turn; nil for none
}

// Stats summarises a level's measurement so far.
type Stats struct {
	Turns, Failed uint64 // ended turns, and the failed ones among them
	InFlight      int
	// TTFT and TPOT hold the p50, p95 and p99 so far, of all turns; 0 without turns.
	TTFT, TPOT [3]time.Duration
}

func middleAndTail(s *sketch.Sketch) (q [3]time.Duration) {
	if s.Count() > 0 {
		q = [3]time.Duration{inSeconds(s.Quantile(0.5)), inSeconds(s.Quantile(0.95)), inSeconds(s.Quantile(0.99))}
	}
	return q
}

func newCollector(objectives []slo.Objective, block time.Duration) *collector {
	return &collector{objectives: objectives, block: block}
}

// begin starts n snapshots of a length. One of the length never lasts until finish.
func (c *collector) begin(now time.Time, n int, length time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range n {
		start := now.Add(time.Duration(i) * length)
		c.spans = append(c.spans, &span{Snapshot: runs.Snapshot{Started: start}, end: start.Add(length)})
	}
	c.spans[0].most = c.live
}

// finish ends the measurement: later spans are dropped, and the current one is shortened. Turns
// that end from now on are the tail.
func (c *collector) finish(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	c.hold(0)
	c.spans = slices.DeleteFunc(c.spans, func(s *span) bool { return !s.Started.Before(now) })
	if n := len(c.spans); n > 0 {
		if current := c.spans[n-1]; current.end.After(now) { // a turn that ends at this moment is inside
			current.end = now.Add(time.Microsecond)
		}
	}
	c.at = len(c.spans)
}

// advance moves to the span of now, and counts the turns in flight on the way.
func (c *collector) advance(now time.Time) {
	for c.at < len(c.spans) && !now.Before(c.spans[c.at].end) {
		if c.at++; c.at < len(c.spans) {
			c.spans[c.at].most = c.live
		}
	}
}

func (c *collector) find(t time.Time) *span {
	for _, s := range c.spans {
		if !t.Before(s.Started) && t.Before(s.end) {
			return s
		}
	}
	return nil
}

func (c *collector) blockAt(s *span, t time.Time) *runs.Block {
	i := int(t.Sub(s.Started) / c.block)
	for len(s.Blocks) <= i {
		s.Blocks = append(s.Blocks, runs.Block{})
	}
	return &s.Blocks[i]
}

// Observe implements probe.Sink.
func (c *collector) Observe(e probe.Event) {
	switch e := e.(type) {
	case probe.Start:
		c.turnStarted(time.Now())
	case probe.Result:
		c.turnEnded(&e)
	}
}

func (c *collector) turnStarted(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	c.live++
	if c.at >= len(c.spans) {
		return
	}
	if s := c.spans[c.at]; !now.Before(s.Started) {
		s.most = max(s.most, c.live)
		c.blockAt(s, now).TurnsStarted++
	}
}

func (c *collector) turnEnded(r *probe.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(time.Now())
	c.live--
	if len(c.spans) == 0 || r.End.Before(c.spans[0].Started) {
		c.records.add(r, inWarmUp)
		return
	}
	c.streak.add(r)
	for _, s := range c.spans {
		s.flight += overlap(r.Sent, r.End, s.Started, s.end)
	}
	s := c.find(r.End)
	if s == nil || r.Outcome == probe.Canceled {
		// The sweep's own end cut this turn, so it belongs to the tail even if it ended at the same moment.
		c.records.add(r, inTail)
		c.tail.Observe(r, c.objectives)
		return
	}
	c.records.add(r, inMeasurement)
	c.blockAt(s, r.End).Observe(r, c.objectives)
	if r.Outcome.Own() {
		return // a fault of the prober says nothing about the deployment
	}
	if r.TTFT.OK {
		c.ttft.Add(r.TTFT.V.Seconds())
	}
	if r.TPOT.OK {
		c.tpot.Add(r.TPOT.V.Seconds())
	}
	c.turns++
	if r.Outcome.Failed() {
		c.failed++
	}
}

// hold adds the conversations in flight since the last change to the spans, and changes their
// number. The caller holds mu.
func (c *collector) hold(change int) {
	now := time.Now()
	for _, s := range c.spans {
		s.held += time.Duration(c.holding) * overlap(c.held, now, s.Started, s.end)
	}
	c.holding, c.held = c.holding+change, now
}

func (c *collector) conversationStarted(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold(1)
	if s := c.find(now); s != nil {
		s.ConversationStarts++
	}
}

// conversationDue counts a start that was due at a time, and whether it was skipped.
func (c *collector) conversationDue(at time.Time, skipped bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.find(at); s != nil {
		s.ConversationsDue++
		if skipped {
			s.ConversationSkips++
		}
	}
}

func (c *collector) conversationEnded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold(-1)
}

// look returns the measurement so far, and why the target counts as dead; "" if it does not. ours is set if the prober
// itself cannot send, so that the target may be alive.
func (c *collector) look(now time.Time) (stats Stats, lost string, ours bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{c.turns, c.failed, c.live, middleAndTail(&c.ttft), middleAndTail(&c.tpot)}, c.streak.targetLost(now), c.streak.outcomes[probe.NotSent] > 0
}

func (c *collector) snapshots() ([]runs.Snapshot, *runs.Block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []runs.Snapshot
	for _, s := range c.spans {
		if length := s.end.Sub(s.Started); length > 0 {
			out = append(out, s.close(length, c.block))
		}
	}
	if len(c.tail.Outcomes) == 0 {
		return out, nil
	}
	return out, &c.tail
}

// span is a snapshot in progress. end is exclusive.
type span struct {
	runs.Snapshot
	end time.Time
	// flight and held sum the time in flight of all turns and conversations within the span.
	flight, held time.Duration
	most         int // the largest number of turns in flight
}

func (s *span) close(length, block time.Duration) runs.Snapshot {
	if n := int((length + block - 1) / block); len(s.Blocks) < n {
		s.Blocks = append(s.Blocks, make([]runs.Block, n-len(s.Blocks))...)
	}
	for i := range s.Blocks {
		// The end is reported slightly late, so a turn may have opened a block after it. Such a
		// block gets a length of 1 ns.
		s.Blocks[i].Seconds = max(min(block, length-time.Duration(i)*block), time.Nanosecond).Seconds()
	}
	mean, held := s.flight.Seconds()/length.Seconds(), s.held.Seconds()/length.Seconds()
	s.InFlightMean, s.InFlightMax = &mean, &s.most
	s.Seconds, s.ConversationsMean = length.Seconds(), &held
	return s.Snapshot
}

func overlap(from, to, start, end time.Time) time.Duration {
	return max(min(to.Sub(start), end.Sub(start))-max(from.Sub(start), 0), 0)
}
