package regression

import "math"

// derive computes what follows from the entries. A half hour's own level is
// believed as far as the days agree on it: it is drawn towards the overall
// level by the share of its variance that chance explains.
func (b *baseline) derive() {
	var d derived
	var sum, variance, weight float64
	for i := range b.slots {
		for _, e := range b.slots[i].all() {
			d.blocks++
			d.samples += int(e.N)
			sum += float64(e.Mean)
			variance += float64(e.Variance) * float64(e.N)
			weight += float64(e.N)
		}
	}
	grand := sum / float64(d.blocks)
	d.spread = math.Sqrt(variance / weight)
	b.findSeason(&d, grand)
	d.noise = b.residual(&d, grand)
	d.level = b.anchored(grand, d.blocks)
	b.derived = d
}

// anchored limits the overall level once the baseline is full.
func (b *baseline) anchored(grand float64, blocks int) float64 {
	if blocks >= fullBlocks {
		b.anchor = min(b.anchor, grand)
	}
	return min(grand, b.anchor+drift)
}

// findSeason estimates what each half hour of the day adds to the overall
// level: empirical Bayes with the variance between days as the noise.
func (b *baseline) findSeason(d *derived, grand float64) {
	within, between, inverse, repeated, used := 0.0, 0.0, 0.0, 0, 0
	for i := range b.slots {
		s := &b.slots[i]
		if s.count == 0 {
			continue
		}
		m := s.mean()
		for _, e := range s.all() {
			within += (float64(e.Mean) - m) * (float64(e.Mean) - m)
		}
		repeated += int(s.count) - 1
		between += (m - grand) * (m - grand)
		inverse += 1 / float64(s.count)
		used++
	}
	if d.blocks < seasonDays*matureBlocks || used < 2 || repeated == 0 {
		return
	}
	noise := within / float64(repeated)
	signal := max(0, between/float64(used-1)-noise*inverse/float64(used))
	for i := range b.slots {
		if n := b.slots[i].count; n > 0 && signal > 0 {
			d.season[i] = float32((b.slots[i].mean() - grand) * signal / (signal + noise/float64(n)))
		}
	}
}

// residual is the standard deviation of the entries around their level, taken
// from those below it: a fault that got in only raises entries, and must not
// make the next one look like noise.
func (b *baseline) residual(d *derived, grand float64) float64 {
	sum, n := 0.0, 0
	for i := range b.slots {
		for _, e := range b.slots[i].all() {
			if r := float64(e.Mean) - grand - float64(d.season[i]); r <= 0 {
				sum += r * r
				n++
			}
		}
	}
	return math.Sqrt(sum / float64(max(1, n)))
}
