package runfile

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
	for _, s := range r.Snapshots {
		for _, b := range s.Blocks {
			blocks = append(blocks, b.SLOs[objective])
		}
	}
	if r.Tail != nil {
		lost = r.Tail.SLOs[objective].Failed
	}
	return blocks, lost
}
