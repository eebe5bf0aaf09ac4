package siblings

// sums of the logarithms of turns
type sums struct{ n, total, squares float64 }

func (s *sums) add(o sums) {
	s.n += o.n
	s.total += o.total
	s.squares += o.squares
}

func (s sums) mean() float64 { return s.total / s.n }

// within returns the sum of squares around the mean.
func (s sums) within() float64 { return max(0, s.squares-s.total*s.total/s.n) }

// past holds the turns of one stratum of a replica, by step.
type past struct {
	cells [steps]sums
	// head is the newest step, seen that of the last turn.
	head, seen int64
	// learned lasting difference from the siblings
	usual float64
}

// add adds a turn at a step, which must not be earlier than the last one.
func (p *past) add(at int64, x float64) {
	p.forward(at)
	p.seen = at
	p.cells[at%steps].add(sums{1, x, x * x})
}

// forward clears the cells of new steps.
func (p *past) forward(at int64) {
	for s := max(p.head, at-steps) + 1; s <= at; s++ {
		p.cells[s%steps] = sums{}
	}
	p.head = at
}

// windows returns the sums of each window up to a finished step.
func (p *past) windows(at int64) (out [windows]sums) {
	if p == nil || at-p.seen >= steps {
		return out
	}
	p.forward(at)
	var all sums
	i := int64(0)
	for w, end := range windowSteps() {
		for ; i < int64(end); i++ {
			all.add(p.cells[(at-i)%steps])
		}
		out[w] = all
	}
	return out
}
