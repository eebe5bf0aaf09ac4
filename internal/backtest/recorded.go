package backtest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// Blocks reads the data directory of a Prometheus without changing it. It ignores native
// histograms.
type Blocks struct {
	db      *tsdb.DBReadOnly
	sandbox string
	from    time.Time
}

// OpenBlocks opens a data directory and reads it from the given time. The caller must close it.
func OpenBlocks(dir string, from time.Time) (*Blocks, error) {
	sandbox, err := os.MkdirTemp("", "synthetic-backtest")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the write-ahead log: %w", err)
	}
	db, err := tsdb.OpenDBReadOnly(dir, sandbox, slog.New(slog.DiscardHandler))
	if err != nil {
		_ = os.RemoveAll(sandbox)
		return nil, fmt.Errorf("opening the TSDB in %q: %w; --tsdb.path must be the directory of Prometheus's --storage.tsdb.path", dir, err)
	}
	return &Blocks{db, sandbox, from}, nil
}

// Close closes the directory.
func (b *Blocks) Close() error {
	defer os.RemoveAll(b.sandbox)
	return b.db.Close()
}

// Advance implements Source.
func (b *Blocks) Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error {
	q, err := b.db.Querier(timestamp.FromTime(b.from), timestamp.FromTime(to))
	if err != nil {
		return fmt.Errorf("reading the TSDB: %w", err)
	}
	defer q.Close()
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		set := q.Select(ctx, false, nil, labels.MustNewMatcher(labels.MatchEqual, model.MetricNameLabel, name))
		for set.Next() {
			into := store.Series(set.At().Labels())
			it := set.At().Iterator(nil)
			for kind := it.Next(); kind != chunkenc.ValNone; kind = it.Next() {
				if kind == chunkenc.ValFloat {
					into.Append(it.At())
				}
			}
			if err := it.Err(); err != nil {
				return fmt.Errorf("reading %q from the TSDB: %w", name, err)
			}
		}
		if err := set.Err(); err != nil {
			return fmt.Errorf("reading %q from the TSDB: %w", name, err)
		}
	}
	b.from = to
	return nil
}

// Remote reads from a Prometheus server with query_range, which returns the last value of a
// series for five minutes after the series ended.
type Remote struct {
	api  promv1.API
	step time.Duration
	from time.Time
}

// NewRemote returns a reader of the Prometheus at url, with query steps of the scrape interval.
func NewRemote(url string, step time.Duration, from time.Time) (*Remote, error) {
	client, err := api.NewClient(api.Config{Address: url})
	if err != nil {
		return nil, fmt.Errorf("invalid Prometheus URL %q: %w", url, err)
	}
	return &Remote{promv1.NewAPI(client), step, from}, nil
}

// rangePoints is the number of points per query; Prometheus allows 11,000.
const rangePoints = 10_000

// Advance implements Source.
func (r *Remote) Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error {
	for r.from.Before(to) {
		end := earlier(r.from.Add(rangePoints*r.step), to)
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			span := promv1.Range{Start: r.from, End: end.Add(-time.Millisecond), Step: r.step}
			v, _, _, err := r.api.QueryRange(ctx, name, span)
			if err != nil {
				return fmt.Errorf("asking Prometheus for %q from %s: %w", name, r.from.UTC().Format(time.RFC3339), err)
			}
			matrix, ok := v.(model.Matrix)
			if !ok {
				return fmt.Errorf("asking Prometheus for %q: got a %s instead of a matrix", name, v.Type())
			}
			appendMatrix(store, matrix)
		}
		r.from = end
	}
	return nil
}

func appendMatrix(store *Store, matrix model.Matrix) {
	for _, s := range matrix {
		b := labels.NewBuilder(labels.EmptyLabels())
		for name, v := range s.Metric {
			b.Set(string(name), string(v))
		}
		into := store.Series(b.Labels())
		for _, p := range s.Values {
			into.Append(int64(p.Timestamp), float64(p.Value))
		}
	}
}
