package runfile

import "synthetic/internal/probe"

// Judged counts the turns that an objective called good or bad.
type Judged struct {
	Good uint64 `json:"good"`
	Bad  uint64 `json:"bad"`
	// Failed of the bad turns did not succeed; the others were too slow.
	Failed uint64 `json:"failed,omitempty"`
}

// Judged returns how an objective judged a level: the turns of each block, in
// order, and how many turns were lost in the tail. A turn of the tail that was
// slow ended under a falling load and says nothing of the level, and neither
// does a good one; one that failed does, if the objective minds: a hang counts
// at its deadline, also when that lies behind the measurement.
//
// This is the one rule for what counts: the verdict of a sweep and the matrix of
// a report both follow it.
func (r Result) Judged(objective string) (blocks []Judged, lost uint64) {
	for _, b := range r.Blocks() {
		blocks = append(blocks, b.SLOs[objective])
	}
	if r.Tail != nil {
		lost = r.Tail.SLOs[objective].Failed
	}
	return blocks, lost
}

// Blocks are those of all snapshots, in order.
func (r Result) Blocks() []Block {
	var all []Block
	for _, s := range r.Snapshots {
		all = append(all, s.Blocks...)
	}
	return all
}

// Ended is how many turns came to their end, and how many of them failed. Turns
// that our own shutdown canceled did not.
func (b Block) Ended() (turns, failed uint64) {
	for outcome, n := range b.Outcomes {
		if outcome != probe.Canceled {
			turns += n
		}
		if outcome.Failed() {
			failed += n
		}
	}
	return turns, failed
}
