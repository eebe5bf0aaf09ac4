package siblings

// sums are of the logarithms of some turns.
type sums struct{ n, total, squares float64 }

func (s *sums) add(o sums) {
	s.n += o.n
	s.total += o.total
	s.squares += o.squares
}

func (s sums) mean() float64 { return s.total / s.n }

// within is the sum of squares around the own mean.
func (s sums) within() float64 { return max(0, s.squares-s.total*s.total/s.n) }

// past holds the turns of one stratum of a replica for some steps.
type past struct {
	cells [steps]sums
	// head is the newest step, seen the one of the last turn.
	head, seen int64
	// usual is the lasting difference from the siblings, as far as it was learned.
	usual float64
}

// add takes a turn at a step, which is no earlier than that of the last one.
func (p *past) add(at int64, x float64) {
	p.forward(at)
	p.seen = at
	p.cells[at%steps].add(sums{1, x, x * x})
}

// forward empties the cells of the steps that came since.
func (p *past) forward(at int64) {
	for s := max(p.head, at-steps) + 1; s <= at; s++ {
		p.cells[s%steps] = sums{}
	}
	p.head = at
}

// windows are the sums over each of them, up to a step that is over.
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
