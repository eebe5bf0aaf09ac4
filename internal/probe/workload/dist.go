package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Dist is a log-normal distribution of lengths in tokens.
type Dist struct {
	// Mean and SD describe the values themselves, not their logarithms.
	Mean float64 `yaml:"mean" required:"true" above:"0" max:"2000000" examples:"800"`
	SD   float64 `yaml:"sd" required:"true" min:"0" max:"2000000" examples:"600"`
	// Values outside Min and Max are set to the bound. Max 0 means no bound.
	Min float64 `yaml:"min" min:"0" max:"2000000" examples:"10"`
	Max float64 `yaml:"max" above:"0" max:"2000000" examples:"32000"`
}

func (d *Dist) draw(rng *rand.Rand) float64 {
	cv := d.SD / d.Mean
	sigma2 := math.Log1p(cv * cv)
	x := d.Mean * math.Exp(math.Sqrt(sigma2)*rng.NormFloat64()-sigma2/2)
	return min(max(x, d.Min), cmp.Or(d.Max, math.Inf(1)))
}

// count draws an integer of at least 1.
func (d *Dist) count(rng *rand.Rand) int { return max(int(math.Round(min(d.draw(rng), 1e9))), 1) }

const estimateDraws = 4096

// EstimateMean estimates the mean by drawing, because of the bounds.
func (d *Dist) EstimateMean() float64 {
	rng, sum := newRand(1), 0.0
	for range estimateDraws {
		sum += d.draw(rng)
	}
	return sum / estimateDraws
}

func (d *Dist) String() string {
	var b strings.Builder
	b.WriteString("lognormal")
	for _, p := range []struct {
		name  string
		value float64
	}{{"mean", d.Mean}, {"sd", d.SD}, {"min", d.Min}, {"max", d.Max}} {
		if p.value > 0 {
			fmt.Fprintf(&b, " %s=%g", p.name, p.value)
		}
	}
	return b.String()
}

// Dists are the distributions of conversations. nil means that the fixed values of Spec apply.
type Dists struct {
	Prompt   *Dist `yaml:"prompt_tokens" examples:"{mean: 800, sd: 600, max: 8000}"`
	Followup *Dist `yaml:"followup_tokens" examples:"{mean: 1200, sd: 2400, min: 20, max: 20000}"`
	Output   *Dist `yaml:"output_tokens" examples:"{mean: 200, sd: 150}"`
}
