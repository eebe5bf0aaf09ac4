package backtest

import (
	"sort"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// point is one sample, in Unix milliseconds.
type point struct {
	t int64
	v float64
}

func (p *point) T() int64                      { return p.t }
func (p *point) ST() int64                     { return 0 }
func (p *point) F() float64                    { return p.v }
func (p *point) H() *histogram.Histogram       { return nil }
func (p *point) FH() *histogram.FloatHistogram { return nil }
func (p *point) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (p *point) Copy() chunks.Sample           { return &point{p.t, p.v} }

// points implements storage.Samples without an allocation per sample.
type points []point

func (p points) Get(i int) chunks.Sample { return &p[i] }
func (p points) Len() int                { return len(p) }

// from is the index of the first point at t or later.
func (p points) from(t int64) int {
	return sort.Search(len(p), func(i int) bool { return p[i].t >= t })
}

// within are the points between two times, both inclusive.
func (p points) within(mint, maxt int64) points {
	i := p.from(mint)
	return p[i:max(i, p.from(maxt+1))]
}
