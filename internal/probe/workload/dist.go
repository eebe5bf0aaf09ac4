package workload

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Shape is the kind of a distribution.
type Shape string

const (
	Fixed      Shape = "fixed"
	Normal     Shape = "normal"
	LogNormal  Shape = "lognormal"
	GammaShape Shape = "gamma"
	Pareto     Shape = "pareto"
	// Empirical draws from a histogram.
	Empirical Shape = "empirical"
)

// Dist is a distribution of lengths in tokens, numbers of turns, or pauses in seconds.
type Dist struct {
	Shape Shape `yaml:"shape" required:"true" enum:"fixed,normal,lognormal,gamma,pareto,empirical"`
	// Mean and SD describe the values themselves, for lognormal too. Alpha is the exponent of a
	// Pareto tail that starts at Min.
	Mean  float64 `yaml:"mean" above:"0" max:"2000000" examples:"800"`
	SD    float64 `yaml:"sd" min:"0" max:"2000000" examples:"600"`
	Alpha float64 `yaml:"alpha" above:"0" max:"100" examples:"1.5"`
	// Values outside Min and Max are set to the bound. Max 0 means no bound.
	Min  float64 `yaml:"min" min:"0" max:"2000000" examples:"10"`
	Max  float64 `yaml:"max" above:"0" max:"2000000" examples:"32000"`
	File string  `yaml:"file" examples:"lengths.csv"`
	// Bins is the content of File.
	Bins []Bin
}

// Bin is a value, and the sum of the weights up to and including it.
type Bin struct{ Value, UpTo float64 }

func (d *Dist) draw(rng *rand.Rand) float64 {
	var x float64
	switch cv := d.SD / d.Mean; d.Shape {
	case Normal:
		x = d.Mean + d.SD*rng.NormFloat64()
	case LogNormal:
		sigma2 := math.Log1p(cv * cv)
		x = d.Mean * math.Exp(math.Sqrt(sigma2)*rng.NormFloat64()-sigma2/2)
	case GammaShape:
		if x = d.Mean; cv > 0 {
			x = gamma(rng, 1/(cv*cv)) * d.Mean * cv * cv
		}
	case Pareto:
		x = d.Min * math.Pow(1-rng.Float64(), -1/d.Alpha)
	case Empirical:
		u := rng.Float64() * d.Bins[len(d.Bins)-1].UpTo
		i := sort.Search(len(d.Bins)-1, func(i int) bool { return d.Bins[i].UpTo > u })
		x = d.Bins[i].Value
	default:
		x = d.Mean
	}
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
	b.WriteString(string(d.Shape))
	for _, p := range []struct {
		name  string
		value float64
	}{{"mean", d.Mean}, {"sd", d.SD}, {"alpha", d.Alpha}, {"min", d.Min}, {"max", d.Max}} {
		if p.value > 0 {
			fmt.Fprintf(&b, " %s=%g", p.name, p.value)
		}
	}
	if n := len(d.Bins); n > 0 {
		fmt.Fprintf(&b, " of %d values", n)
	}
	return b.String()
}

// Dists are the distributions of a class of conversations. nil means that the fixed values of
// Spec apply.
type Dists struct {
	Prompt, Followup, Output, Turns, Think *Dist
}

// Client is a class of conversations with its own arrival process.
type Client struct {
	// Share is relative to the sum of all classes.
	Share      float64
	Process    Process
	Burstiness float64
	Dists
}

// clients draws the starts of a mixture of classes.
type clients struct {
	classes    []Client
	starts     []*Schedule
	nextStarts []time.Duration
}

// newClients merges the processes of the classes. Together they have one start per second.
func newClients(classes []Client, seed, salt uint64) *clients {
	c := &clients{classes: classes}
	sum := 0.0
	for _, k := range classes {
		sum += k.Share
	}
	for i, k := range classes {
		a := Arrival{Process: k.Process, Rate: k.Share / sum, Burstiness: k.Burstiness}
		phase := newRand(seed, salt, streamClient, uint64(i), 1).Float64() / a.Rate
		s := NewSchedule(a, mix(seed^mix(salt)^uint64(i)), seconds(phase))
		c.starts, c.nextStarts = append(c.starts, s), append(c.nextStarts, s.Next())
	}
	return c
}

// nextStart returns the class of the next start, and its time.
func (c *clients) nextStart() (*Client, time.Duration) {
	at := slices.Min(c.nextStarts)
	first := slices.Index(c.nextStarts, at)
	c.nextStarts[first] = c.starts[first].Next()
	return &c.classes[first], at
}

// maxBins and maxWeight bound a histogram; maxValue is that of Dist.
const (
	maxBins   = 100_000
	maxValue  = 2_000_000
	maxWeight = 1e15
)

// ReadHistogram reads lines of the form "value,weight". Its errors start with the line number.
func ReadHistogram(path string) ([]Bin, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var bins []Bin
	lines, sum, number := bufio.NewScanner(f), 0.0, 0
	for lines.Scan() {
		number++
		text := strings.TrimSpace(lines.Text())
		if text == "" || number == 1 && strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz") {
			continue // a header
		}
		value, weight, _ := strings.Cut(text, ",")
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		w, err2 := strconv.ParseFloat(strings.TrimSpace(weight), 64)
		valid := err == nil && err2 == nil && v >= 0 && v <= maxValue && w >= 0 && w <= maxWeight
		if !valid || len(bins) == maxBins {
			return nil, fmt.Errorf("%d: %.40q is not \"value,weight\"; write lines such as 512,17, at most %d of them",
				number, text, maxBins)
		}
		sum += w
		bins = append(bins, Bin{v, sum})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%d: %w", number+1, err)
	}
	if sum <= 0 {
		return nil, fmt.Errorf("%d: the histogram has no weight; write lines of a value, a comma and its weight", number)
	}
	return bins, nil
}
