package siblings

const (
	windows = 4
	// shownWindow is the window of the exported ratio, which also decides when a page ends.
	shownWindow = 2
	// historySteps is the length of a history and of the longest window.
	historySteps = 60
)

// windowSteps returns the lengths of the windows: short ones detect large differences, long ones
// small differences.
func windowSteps() [windows]int { return [windows]int{3, 6, 18, historySteps} }

// sums adds up the logarithms of turns.
type sums struct{ n, total, squares float64 }

func (s *sums) add(o sums) {
	s.n += o.n
	s.total += o.total
	s.squares += o.squares
}

func (s sums) mean() float64 { return s.total / s.n }

func (s sums) squaresAroundMean() float64 { return max(0, s.squares-s.total*s.total/s.n) }

// history holds the recent turns of a replica in one stratum, by step.
type history struct {
	steps [historySteps]sums
	// newest is the newest step, lastTurn the step of the last turn.
	newest, lastTurn int64
	// lasting is the learned lasting difference from the siblings.
	lasting float64
}

// add adds a turn at a step, which must not be earlier than the last one.
func (h *history) add(at int64, x float64) {
	h.advance(at)
	h.lastTurn = at
	h.steps[at%historySteps].add(sums{1, x, x * x})
}

// advance clears the steps up to at.
func (h *history) advance(at int64) {
	for s := max(h.newest, at-historySteps) + 1; s <= at; s++ {
		h.steps[s%historySteps] = sums{}
	}
	h.newest = at
}

// windows returns the sums of each window that ends with a finished step.
func (h *history) windows(at int64) (out [windows]sums) {
	if h == nil || at-h.lastTurn >= historySteps {
		return out
	}
	h.advance(at)
	var all sums
	i := int64(0)
	for w, end := range windowSteps() {
		for ; i < int64(end); i++ {
			all.add(h.steps[(at-i)%historySteps])
		}
		out[w] = all
	}
	return out
}
