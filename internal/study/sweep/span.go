package sweep

import (
	"time"

	"synthetic/internal/study/runfile"
)

// span is a snapshot in progress. end is exclusive.
type span struct {
	runfile.Snapshot
	end time.Time
	// flight sums the time in flight of all turns within the span.
	flight time.Duration
	// held sums the time of all conversations in flight.
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
		// The end is reported slightly late, so a turn may have opened a block after it. Such a
		// block gets a length of 1 ns.
		s.Blocks[i].Seconds = max(min(block, length-time.Duration(i)*block), time.Nanosecond).Seconds()
	}
	mean := s.flight.Seconds() / length.Seconds()
	s.InFlightMean, s.InFlightMax, s.InFlightEnd = &mean, &s.most, &s.last
	return s.withConversations(length)
}

// withConversations returns the snapshot of the given length with its mean number of
// conversations.
func (s *span) withConversations(length time.Duration) runfile.Snapshot {
	mean := s.held.Seconds() / length.Seconds()
	out := s.Snapshot
	out.Seconds, out.ConversationsMean = length.Seconds(), &mean
	return out
}

func overlap(from, to, start, end time.Time) time.Duration {
	return max(min(to.Sub(start), end.Sub(start))-max(from.Sub(start), 0), 0)
}
