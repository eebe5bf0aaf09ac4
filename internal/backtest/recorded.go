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

// ScoreRecording scores rule sets on recorded series between two times. Without incidents the
// recording counts as healthy, and every page is false. progress may be nil.
func ScoreRecording(ctx context.Context, src Source, sets []*RuleSet, incidents []Incident, from, to time.Time, progress Progress) (r Report, err error) {
	r.Settings = []string{
		fmt.Sprintf("recorded series from %s to %s, %d labelled incidents", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339), len(incidents)),
	}
	r.Scores, r.Partial, err = scoreRun(ctx, "recorded", src, sets, Outcome{Incidents: incidents}, from, to, func(at time.Time) { progress.tell(at, from, to) })
	return r, err
}

// scoreRun replays src between two times, completes the outcome, and scores it. If ctx ends, it scores the
// time until then, and partial says so.
func scoreRun(ctx context.Context, model string, src Source, sets []*RuleSet, run Outcome, from, to time.Time, progress func(at time.Time)) (scores []Score, partial string, err error) {
	var reached time.Time
	if run.Spans, reached, err = replayUntil(ctx, src, sets, from, to, progress); err != nil {
		return nil, "", err
	}
	if !reached.After(from) {
		return nil, "", ctx.Err()
	}
	if reached.Before(to) {
		partial = fmt.Sprintf("the replay was stopped; scored until %s instead of %s", reached.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
	}
	run.Days = reached.Sub(from).Hours() / 24
	if reached.Before(to) {
		run.dropUndecided(reached)
	}
	var names []string
	for _, i := range run.Incidents {
		if !slices.Contains(names, i.Name) {
			names = append(names, i.Name)
		}
	}
	return ScoreSets(model, sets, names, []Outcome{run}), partial, nil
}

// dropUndecided removes the incidents that could still have been found when a replay stopped, and their alerts.
func (o *Outcome) dropUndecided(stopped time.Time) {
	isUndecided := func(i Incident) bool { return i.From.Add(i.Within).After(stopped) }
	undecided := slices.DeleteFunc(slices.Clone(o.Incidents), func(i Incident) bool { return !isUndecided(i) })
	o.Incidents = slices.DeleteFunc(slices.Clone(o.Incidents), isUndecided)
	for n, spans := range o.Spans {
		o.Spans[n] = slices.DeleteFunc(spans, func(s Span) bool {
			return slices.ContainsFunc(undecided, func(i Incident) bool {
				return !s.From.Before(i.From) && sameTarget(s.Labels.Get(labelTarget), i.Target)
			})
		})
	}
}

type blocks struct {
	db   *tsdb.DBReadOnly
	from time.Time
}

// OpenBlocks returns the data directory of a Prometheus as a source, from the given time. It never
// changes the directory, and ignores native histograms. The caller must call stop.
func OpenBlocks(dir string, from time.Time) (src Source, stop func() error, err error) {
	sandbox, err := os.MkdirTemp("", "synthetic-backtest")
	if err != nil {
		return nil, nil, fmt.Errorf("making a directory for the write-ahead log: %w", err)
	}
	db, err := tsdb.OpenDBReadOnly(dir, sandbox, slog.New(slog.DiscardHandler))
	if err != nil {
		_ = os.RemoveAll(sandbox)
		return nil, nil, fmt.Errorf("opening the TSDB in %q: %w; --tsdb.path must be the directory of Prometheus's --storage.tsdb.path", dir, err)
	}
	stop = func() error {
		defer os.RemoveAll(sandbox)
		return db.Close()
	}
	return &blocks{db, from}, stop, nil
}

// Advance implements Source.
func (b *blocks) Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error {
	q, err := b.db.Querier(timestamp.FromTime(b.from), timestamp.FromTime(to))
	if err != nil {
		return fmt.Errorf("reading the TSDB: %w", err)
	}
	defer q.Close()
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		set := q.Select(ctx, false, nil, labels.MustNewMatcher(labels.MatchEqual, model.MetricNameLabel, name))
		for set.Next() {
			into := store.seriesOf(set.At().Labels())
			it := set.At().Iterator(nil)
			for kind := it.Next(); kind != chunkenc.ValNone; kind = it.Next() {
				if kind == chunkenc.ValFloat {
					into.add(it.At())
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

type remote struct {
	api  promv1.API
	step time.Duration
	from time.Time
}

// NewRemote returns the Prometheus at url as a source. It uses query_range with steps of the scrape
// interval, which returns the last value of a series for five minutes after the series ended.
func NewRemote(url string, step time.Duration, from time.Time) (Source, error) {
	client, err := api.NewClient(api.Config{Address: url})
	if err != nil {
		return nil, fmt.Errorf("invalid Prometheus URL %q: %w", url, err)
	}
	return &remote{promv1.NewAPI(client), step, from}, nil
}

// rangePoints is the number of points per query; Prometheus allows 11,000.
const rangePoints = 10_000

// Advance implements Source.
func (r *remote) Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error {
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
		into := store.seriesOf(b.Labels())
		for _, p := range s.Values {
			into.add(int64(p.Timestamp), float64(p.Value))
		}
	}
}
