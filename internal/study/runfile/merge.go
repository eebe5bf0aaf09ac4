package runfile

import (
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sketch"
)

// Shift adds an offset to the times of a result.
func (r *Result) Shift(by time.Duration) {
	r.Started, r.Ended = r.Started.Add(by), r.Ended.Add(by)
	for i := range r.Snapshots {
		r.Snapshots[i].Started = r.Snapshots[i].Started.Add(by)
	}
}

// Merge adds the measurement of another process that carried a part of the same load at the
// same time. Counts, values and numbers in flight add up; each server page is taken once.
// InFlightMax becomes unknown, because the peaks of two processes differ in time. State,
// verdict and reasons stay r's.
func (r *Result) Merge(o Result) {
	r.Started, r.Ended = Earlier(r.Started, o.Started), Later(r.Ended, o.Ended)
	for i, s := range o.Snapshots {
		if i < len(r.Snapshots) {
			r.Snapshots[i].merge(s)
		} else {
			r.Snapshots = append(r.Snapshots, s)
		}
	}
	r.Throttled = larger(r.Throttled, o.Throttled)
	switch {
	case r.Tail == nil:
		r.Tail = o.Tail
	case o.Tail != nil:
		r.Tail.merge(*o.Tail)
	}
}

// End returns the end of the interval.
func (s Snapshot) End() time.Time { return s.Started.Add(toDuration(s.Seconds)) }

func (s *Snapshot) merge(o Snapshot) {
	from := Earlier(s.Started, o.Started)
	seconds := max(s.Seconds+s.Started.Sub(from).Seconds(), o.Seconds+o.Started.Sub(from).Seconds())
	s.InFlightMean = weightedSum(s.InFlightMean, o.InFlightMean, s.Seconds/seconds, o.Seconds/seconds)
	s.ConversationsMean = weightedSum(s.ConversationsMean, o.ConversationsMean, s.Seconds/seconds, o.Seconds/seconds)
	s.Started, s.Seconds, s.InFlightMax = from, seconds, nil
	s.InFlightEnd = weightedSum(s.InFlightEnd, o.InFlightEnd, 1, 1)
	s.ConversationStarts += o.ConversationStarts
	s.ConversationSkips += o.ConversationSkips
	s.ConversationsDue += o.ConversationsDue
	for i, b := range o.Blocks {
		if i < len(s.Blocks) {
			s.Blocks[i].merge(b)
		} else {
			s.Blocks = append(s.Blocks, b)
		}
	}
	for _, x := range o.Server {
		if !slices.ContainsFunc(s.Server, func(own Server) bool { return own.Source == x.Source }) {
			s.Server = append(s.Server, x)
		}
	}
}

func (b *Block) merge(o Block) {
	b.Seconds = max(b.Seconds, o.Seconds)
	b.TurnsStarted += o.TurnsStarted
	if b.Outcomes == nil && o.Outcomes != nil {
		b.Outcomes = map[probe.Outcome]uint64{}
	}
	for outcome, n := range o.Outcomes {
		b.Outcomes[outcome] += n
	}
	b.TurnSeconds += o.TurnSeconds
	b.Good += o.Good
	b.NotJudged += o.NotJudged
	if b.SLOs == nil && o.SLOs != nil {
		b.SLOs = map[string]Judged{}
	}
	for name, n := range o.SLOs {
		sum := b.SLOs[name]
		b.SLOs[name] = Judged{sum.Good + n.Good, sum.Bad + n.Bad, sum.Failed + n.Failed}
	}
	b.Tokens.merge(o.Tokens)
	b.Sessions.Merge(o.Sessions)
	b.mergeConversations(o.Conversations)
	b.addRecall(o.Recall)
	b.First.merge(o.First)
	b.Followup.merge(o.Followup)
	for to, from := range map[**sketch.Sketch]*sketch.Sketch{
		&b.ScheduleLag: o.ScheduleLag, &b.ReadLag: o.ReadLag, &b.AddedTTFT: o.AddedTTFT, &b.AddedGap: o.AddedGap,
	} {
		switch {
		case *to == nil:
			*to = from
		case from != nil:
			(*to).Merge(from)
		}
	}
}

func (t *Tokens) merge(o Tokens) {
	t.Prompt += o.Prompt
	t.Output += o.Output
	t.OutputEstimated += o.OutputEstimated
	if o.Cached != nil && o.CachedOf != nil { // a block without turns has none
		addTo(&t.Cached, *o.Cached)
		addTo(&t.CachedOf, *o.CachedOf)
	}
}

func (d *Distributions) merge(o Distributions) {
	d.TTFT.Merge(o.TTFT)
	d.AnswerTTFT.Merge(o.AnswerTTFT)
	d.TPOT.Merge(o.TPOT)
	d.NTPOT.Merge(o.NTPOT)
	d.ITL.Merge(o.ITL)
	d.Latency.Merge(o.Latency)
}

// weightedSum returns the weighted sum, nil if a part is unknown.
func weightedSum[N int | float64](a, b *N, weightA, weightB N) *N {
	if a == nil || b == nil {
		return nil
	}
	sum := *a*weightA + *b*weightB
	return &sum
}

func larger(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// Earlier returns the earlier time.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Later returns the later time.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
