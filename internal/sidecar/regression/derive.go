package regression

import "math"

// derive computes what follows from the entries. A half hour's own level is
// believed as far as the days agree on it: it is drawn towards the overall
// level by the share of its variance that chance explains.
func (b *baseline) derive() {
	var d derived
	var sum, variance, weight float64
	for _, s := range b.slots {
		for _, e := range s {
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
	d.noise = b.noiseOf(&d, grand)
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
	for _, s := range b.slots {
		if len(s) == 0 {
			continue
		}
		m := s.mean()
		for _, e := range s {
			within += (float64(e.Mean) - m) * (float64(e.Mean) - m)
		}
		repeated += len(s) - 1
		between += (m - grand) * (m - grand)
		inverse += 1 / float64(len(s))
		used++
	}
	if d.blocks < seasonDays*matureBlocks || used < 2 || repeated == 0 {
		return
	}
	noise := within / float64(repeated)
	signal := max(0, between/float64(used-1)-noise*inverse/float64(used))
	for i, s := range b.slots {
		if n := len(s); n > 0 && signal > 0 {
			d.season[i] = float32((s.mean() - grand) * signal / (signal + noise/float64(n)))
		}
	}
}

// noiseOf is the standard deviation of the half hours around their level: of
// those that stand in the baseline or, once it has seen a week, of many more.
// It is an upper estimate, for what was measured in few half hours may be more.
func (b *baseline) noiseOf(d *derived, grand float64) float64 {
	below := b.residuals(d, grand)
	if d.blocks < fullBlocks {
		b.below = deviations{}
	} else if b.below.N == 0 {
		b.below = below
	}
	if b.below.N > below.N {
		below = b.below
	}
	return below.upper()
}

// residuals are the deviations of the entries from their level.
func (b *baseline) residuals(d *derived, grand float64) (below deviations) {
	for i, s := range b.slots {
		for _, e := range s {
			below.add(float64(e.Mean) - grand - float64(d.season[i]))
		}
	}
	return below
}

// deviations are those of half hours below their level: a fault that got in only
// raises half hours, and must not make the next one look like noise.
type deviations struct {
	N       float64 `json:"n"`
	Squares float64 `json:"squares"`
	// Lean is the mean deviation of about the last day, above and below.
	Lean float64 `json:"lean,omitzero"`
}

func (d *deviations) add(residual float64) {
	if residual <= 0 {
		d.N++
		d.Squares += residual * residual
	}
}

// follow adds the deviation of a half hour that was just taken in, and forgets
// those of longer than noiseDays ago by degrees. An improvement is no noise:
// while a day is lower as a whole, by more than single half hours wander,
// nothing is added, until the baseline has come after it. Otherwise each of its
// half hours would raise the noise, and what that allows the next one, and for
// weeks no regression would be found.
func (d *deviations) follow(residual float64) {
	if d.N == 0 {
		return
	}
	sd := math.Sqrt(d.Squares / d.N)
	d.Lean += (residual - d.Lean) / slots
	if residual > 0 || d.Lean < -sd {
		return
	}
	keep := 1 - 1/(noiseDays*slots/2.0)
	d.N, d.Squares = keep*d.N, keep*d.Squares
	d.add(max(residual, -3*sd))
}

// upper is the standard deviation, and more where it stands on few half hours.
func (d *deviations) upper() float64 {
	n := max(1, d.N)
	return math.Sqrt(d.Squares/n) * (1 + noiseUncertain/math.Sqrt(n))
}
