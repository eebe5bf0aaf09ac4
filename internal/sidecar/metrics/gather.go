package metrics

import (
	"errors"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Gatherer gathers the recorder's families, and those of others beside them,
// which must not define the same names. Unlike a Registry it neither checks
// nor sorts each series anew, and it reuses its messages: with thousands of
// series that is most of the cost of a scrape.
func (r *Recorder) Gatherer(others ...prometheus.Gatherer) prometheus.TransactionalGatherer {
	return &gatherer{recorder: r, others: others}
}

type gatherer struct {
	recorder *Recorder
	others   []prometheus.Gatherer
}

// Gather fills a frame; it is the caller's until done.
func (g *gatherer) Gather() (_ []*dto.MetricFamily, done func(), err error) {
	f := g.recorder.takeFrame()
	f.fill(g.recorder)
	fams := f.exported()
	for _, o := range g.others {
		more, gatherErr := o.Gather()
		fams, err = append(fams, more...), errors.Join(err, gatherErr)
	}
	slices.SortStableFunc(fams, func(a, b *dto.MetricFamily) int {
		return strings.Compare(a.GetName(), b.GetName())
	})
	return fams, func() { g.recorder.giveBack(f) }, err
}

// takeFrame returns the spare frame or lays out a new one: a second scrape at
// the same time gets its own.
func (r *Recorder) takeFrame() *frame {
	r.mu.Lock()
	f := r.spare
	r.spare = nil
	r.mu.Unlock()
	if f == nil {
		f = r.newFrame()
	}
	return f
}

// giveBack keeps the frame for the next scrape if it still shows the series
// there are.
func (r *Recorder) giveBack(f *frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.generation == r.generation {
		r.spare = f
	}
}
