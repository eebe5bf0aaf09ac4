package sweep

import (
	"time"

	"synthetic/internal/study/runfile"
)

// span is a snapshot under way: from its start to before its end.
type span struct {
	runfile.Snapshot
	end time.Time
	// flight is the time that turns were in flight within the span, summed.
	flight time.Duration
	// held is the same of conversations.
	held time.Duration
	// most and last are the largest and the last number of turns in flight.
	most, last int
}

func newSpan(start, end time.Time) *span {
	return &span{Snapshot: runfile.Snapshot{Started: start}, end: end}
}

func (s *span) close(length, block time.Duration) runfile.Snapshot {
	if n := int((length + block - 1) / block); len(s.Blocks) < n {
		s.Blocks = append(s.Blocks, make([]runfile.Block, n-len(s.Blocks))...)
	}
	for i := range s.Blocks {
		// An end is told a moment after it, by when a turn may have opened the
		// block behind it: that one took no time, but it is there.
		s.Blocks[i].Seconds = max(min(block, length-time.Duration(i)*block), time.Nanosecond).Seconds()
	}
	mean := s.flight.Seconds() / length.Seconds()
	s.InFlightMean, s.InFlightMax, s.InFlightEnd = &mean, &s.most, &s.last
	return s.withConversations(length)
}

// carried is the snapshot with the conversations in flight over a length of it.
func (s *span) withConversations(length time.Duration) runfile.Snapshot {
	mean := s.held.Seconds() / length.Seconds()
	out := s.Snapshot
	out.Seconds, out.ConversationsMean = length.Seconds(), &mean
	return out
}

func overlap(from, to, start, end time.Time) time.Duration {
	return max(min(to.Sub(start), end.Sub(start))-max(from.Sub(start), 0), 0)
}
