package alerting

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
)

// timestampSuffix ends the names of metrics whose value is a time, by Prometheus's convention.
const timestampSuffix = "_timestamp_seconds"

// feed stores the series of a gatherer that the rules read, like a scrape. One goroutine scrapes;
// any goroutine may read the counts. There is no lock: the gathered metrics include the pager's
// health, which must not wait for a reload that waits for the scrape.
type feed struct {
	gatherer  prometheus.Gatherer
	storage   storage.Appendable
	clock     *clock
	rules     *ruleLoader
	instance  labels.Labels // added to every series
	maxSeries int
	logger    *slog.Logger

	series map[uint64]*series
	seed   maphash.Seed
	round  uint64 // number of the scrape
	full   bool   // the limit of series was logged

	refused atomic.Uint64 // number of samples that were not stored
	stored  atomic.Int64  // number of series
}

type series struct {
	ref    storage.SeriesRef
	labels labels.Labels
	native bool
	seen   uint64 // round of the last sample
}

// begin makes the feed use another database, with new series references.
func (f *feed) begin(storage storage.Appendable) { f.storage, f.series = storage, map[uint64]*series{} }

// scrape gathers and stores once. Series that are missing since the last scrape become stale. A
// brokenError means that the storage failed.
func (f *feed) scrape(ctx context.Context) error {
	families, gatherErr := f.gatherer.Gather()
	b := batch{feed: f, wants: f.rules.current.Load().reads, at: f.clock.now().UnixMilli(), app: f.storage.Appender(ctx)}
	b.step = f.clock.step()
	f.round++
	for _, family := range families {
		b.family(family)
	}
	b.stale()
	f.stored.Store(int64(len(f.series)))
	f.refused.Add(b.refused)
	if err := b.app.Commit(); err != nil {
		return errors.Join(gatherErr, brokenError{fmt.Errorf("storing the samples of the pager: %w", err)})
	}
	f.logOverflow(b.leftOut)
	return errors.Join(gatherErr, b.err)
}

// logOverflow logs when series exceed the limit, and when they fit again.
func (f *feed) logOverflow(leftOut int) {
	switch {
	case leftOut > 0 && !f.full:
		f.logger.Error("The pager stores no more series: rules see only a part; probe less in one process", "limit", f.maxSeries, "left_out", leftOut)
	case leftOut == 0 && f.full:
		f.logger.Info("The pager stores all series again", "series", len(f.series))
	}
	f.full = leftOut > 0
}

type batch struct {
	*feed
	wants   func(series string) bool
	app     storage.Appender
	at      int64
	step    time.Duration
	key     []byte
	refused uint64
	leftOut int
	err     error
}

func (b *batch) family(family *dto.MetricFamily) {
	name := family.GetName()
	isTime := strings.HasSuffix(name, timestampSuffix)
	for _, m := range family.Metric {
		Each(name, m, true, b.wants, func(s Sample) {
			if isTime && s.Value > 0 {
				// rules compare it with time(), which is the pager's clock
				s.Value -= b.step.Seconds()
			}
			b.store(m, s)
		})
	}
}

// store appends a sample to its series, which it creates if needed.
func (b *batch) store(m *dto.Metric, s Sample) {
	id := b.id(m, s)
	e := b.series[id]
	if e == nil {
		if len(b.series) >= b.maxSeries {
			b.leftOut++
			b.refused++
			return
		}
		e = &series{labels: s.Labels(m, b.instance)}
		b.series[id] = e
	}
	e.seen, e.native = b.round, s.Native != nil
	b.append(e, s.Value, s.Native)
}

// append keeps the first error: a bad sample does not stop the others.
func (b *batch) append(e *series, v float64, h *histogram.Histogram) {
	var err error
	if h != nil {
		e.ref, err = b.app.AppendHistogram(e.ref, e.labels, b.at, h, nil)
	} else {
		e.ref, err = b.app.Append(e.ref, e.labels, b.at, v)
	}
	if err != nil {
		b.refused++
		if b.err == nil {
			b.err = fmt.Errorf("storing %s: %w", e.labels, err)
		}
	}
}

// stale marks the series that this scrape did not contain, and drops them.
func (b *batch) stale() {
	for id, e := range b.series {
		if e.seen == b.round {
			continue
		}
		marker := math.Float64frombits(value.StaleNaN)
		if e.native {
			b.append(e, 0, &histogram.Histogram{Sum: marker})
		} else {
			b.append(e, marker, nil)
		}
		delete(b.series, id)
	}
}

// id identifies a series without building its labels.
func (b *batch) id(m *dto.Metric, s Sample) uint64 {
	k := append(b.key[:0], s.Name...)
	k = append(append(k, 0xff), s.LabelValue...)
	for _, l := range m.Label {
		k = append(append(k, 0xff), l.GetName()...)
		k = append(append(k, 0xff), l.GetValue()...)
	}
	b.key = k
	return maphash.Bytes(b.seed, k)
}
