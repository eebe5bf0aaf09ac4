package review

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
	"synthetic/internal/turnlog"
)

// History is what jobs did in the past, in slots of one length.
type History struct {
	// Source says in words where the figures are from.
	Source string
	// Step is the length of a slot: an hour or a day.
	Step time.Duration
	// Jobs hold the slots with turns, oldest first.
	Jobs map[probe.Key][]Slot
}

// Slot counts the turns of a job in an hour or on a day.
type Slot struct {
	Start         time.Time
	Turns, Failed int
	TTFT, TPOT    Counts
}

// slots collects slots by job and start.
type slots map[probe.Key]map[time.Time]*Slot

func (s slots) at(job probe.Key, start time.Time) *Slot {
	if s[job] == nil {
		s[job] = map[time.Time]*Slot{}
	}
	if s[job][start] == nil {
		s[job][start] = &Slot{Start: start}
	}
	return s[job][start]
}

// history returns the slots since a time before the last one. Slots without turns are left out.
func (s slots) history(source string, step, since time.Duration) *History {
	var last time.Time
	for _, all := range s {
		for at := range all {
			if at.After(last) {
				last = at
			}
		}
	}
	h := &History{Source: source, Step: step, Jobs: map[probe.Key][]Slot{}}
	for job, all := range s {
		for _, at := range slices.SortedFunc(maps.Keys(all), time.Time.Compare) {
			if slot := all[at]; slot.Turns > 0 && at.After(last.Add(-since)) {
				h.Jobs[job] = append(h.Jobs[job], *slot)
			}
		}
	}
	return h
}

// HistoryFromTurns reads a log of turns, in hours.
func HistoryFromTurns(ctx context.Context, log *turnlog.Log, since time.Duration) (*History, error) {
	found := slots{}
	turns := log.Read()
	defer turns.Close()
	for ctx.Err() == nil {
		t, err := turns.Next()
		if errors.Is(err, io.EOF) {
			return found.history("a log of turns", time.Hour, since), nil
		}
		if err != nil {
			return nil, err
		}
		if r := t.Result(); !r.Burst && !r.Outcome.Own() {
			s := found.at(r.Key(), r.End.UTC().Truncate(time.Hour))
			s.Turns++
			if r.Outcome.Failed() {
				s.Failed++
			}
			s.TTFT.count(r, slo.TTFT)
			s.TPOT.count(r, slo.TPOT)
		}
	}
	return nil, ctx.Err()
}

// HistoryFromState reads the days that a sidecar keeps beside its state file.
func HistoryFromState(stateFile string, since time.Duration, now time.Time) (*History, error) {
	c, err := readDays(stateFile, now)
	if err != nil {
		return nil, err
	}
	return c.History("the days that the sidecar has kept in "+stateFile+DaysFile, since), nil
}

// History returns what the jobs did on the counted days. source says in words where they are from.
func (c *Counter) History(source string, since time.Duration) *History {
	found := slots{}
	for _, d := range c.Days("") {
		start, err := time.Parse(time.DateOnly, d.Date)
		if err == nil && len(d.TTFT) > 0 { // days of older versions have no latencies
			*found.at(probe.Key{Target: d.Target, Workload: d.Workload}, start) = Slot{start, d.Turns, d.Failed, d.TTFT, d.TPOT}
		}
	}
	return found.history(source, 24*time.Hour, since)
}

// readDays reads the days beside a state file.
func readDays(stateFile string, now time.Time) (*Counter, error) {
	text, err := os.ReadFile(stateFile + DaysFile)
	if err != nil {
		return nil, fmt.Errorf("reading the days beside the state file: %w; name the --state.file of synthetic run", err)
	}
	c := NewCounter()
	if err := c.Restore(complete(text), now); err != nil {
		return nil, fmt.Errorf("%s: %w", stateFile+DaysFile, err)
	}
	return c, nil
}

// HistoryFromPrometheus reads counters and classic histograms by the hour. A latency counts as the upper bound
// of its bucket. Failed turns that no histogram has count as slow ones. Hours with turns but without buckets are
// left out; it is an error if all are.
func HistoryFromPrometheus(ctx context.Context, url string, client *http.Client, since time.Duration, now time.Time) (*History, error) {
	c, err := api.NewClient(api.Config{Address: url, Client: client})
	if err != nil {
		return nil, fmt.Errorf("the URL %q of Prometheus: %w", url, err)
	}
	q, found := promv1.NewAPI(c), slots{}
	end := now.UTC().Truncate(time.Hour)
	for _, s := range []struct {
		metric, by string
		take       func(s *Slot, bound string, turns int)
	}{
		{metrics.Turns, perJob, func(s *Slot, _ string, turns int) { s.Turns = turns }},
		{metrics.TurnFailures, perJob, func(s *Slot, _ string, turns int) { s.Failed = turns }},
		{metrics.TTFTBuckets, perJob + ", le", func(s *Slot, bound string, turns int) { s.TTFT.add(bucket(bound), turns) }},
		{metrics.TPOTBuckets, perJob + ", le", func(s *Slot, bound string, turns int) { s.TPOT.add(bucket(bound), turns) }},
	} {
		query := fmt.Sprintf("sum by (%s) (increase(%s[1h]))", s.by, s.metric)
		matrix, err := queryRange(ctx, q, query, promv1.Range{Start: end.Add(-since), End: end, Step: time.Hour})
		if err != nil {
			return nil, fmt.Errorf("asking Prometheus for %s: %w%s", query, err, remedy(err))
		}
		eachBucket(matrix, func(job probe.Key, at time.Time, bound string, turns int) {
			s.take(found.at(job, at.UTC().Add(-time.Hour)), bound, turns)
		})
	}
	if found.addFailures() {
		return nil, fmt.Errorf("the Prometheus at %s has turns, but no series %s of them, because it keeps native histograms only: set always_scrape_classic_histograms: true in its scrape configuration and, if the configuration of the sidecar has metrics: native, remove that line; ask again after some days", url, metrics.TTFTBuckets)
	}
	return found.history("the Prometheus at "+url, time.Hour, since), nil
}

func queryRange(ctx context.Context, api promv1.API, query string, over promv1.Range) (model.Matrix, error) {
	v, _, _, err := api.QueryRange(ctx, query, over)
	matrix, ok := v.(model.Matrix)
	if err == nil && !ok {
		err = fmt.Errorf("the answer is a %s, not a matrix", v.Type())
	}
	return matrix, err
}

// remedy completes the text of an error from a Prometheus.
func remedy(err error) string {
	answer := (*promv1.Error)(nil)
	switch {
	case errors.As(err, &answer) && answer.Type == promv1.ErrClient:
		return "; check that --prometheus.url is the address of a Prometheus, with its path prefix if it has one"
	case answer != nil:
		return "; if the query was too large, ask for a shorter --since"
	}
	return "; check that --prometheus.url is reachable from here"
}

// addFailures counts failed turns without a latency as slow ones. It drops slots that have turns but no latency,
// and reports whether nothing is left of them.
func (s slots) addFailures() (noLatencies bool) {
	kept, dropped := 0, 0
	for _, all := range s {
		for at, slot := range all {
			_, observed := slot.TTFT.bad(0)
			if observed == 0 && slot.Turns > slot.Failed {
				delete(all, at)
				dropped++
				continue
			}
			kept++
			for _, c := range []*Counts{&slot.TTFT, &slot.TPOT} {
				_, observed := c.bad(0)
				c.add(len(ladder), min(slot.Failed, max(0, slot.Turns-observed)))
			}
		}
	}
	return kept == 0 && dropped > 0
}

// eachBucket calls f with the turns of each bucket, without those of smaller buckets. Series without buckets
// are one bucket.
func eachBucket(matrix model.Matrix, f func(job probe.Key, at time.Time, bound string, turns int)) {
	slices.SortFunc(matrix, func(a, b *model.SampleStream) int {
		return bucket(string(a.Metric["le"])) - bucket(string(b.Metric["le"]))
	})
	type position struct {
		job probe.Key
		at  model.Time
	}
	below := map[position]float64{}
	for _, series := range matrix {
		job := keyOf(series.Metric)
		for _, p := range series.Values {
			at := position{job, p.Timestamp}
			f(job, p.Timestamp.Time(), string(series.Metric["le"]), count(max(0, float64(p.Value)-below[at])))
			below[at] = max(below[at], float64(p.Value))
		}
	}
}

// bucket returns the position of the figure of a bucket's upper bound in seconds.
func bucket(bound string) int {
	v, err := strconv.ParseFloat(bound, 64)
	if err != nil || math.IsInf(v, 1) {
		return len(ladder)
	}
	return figureOf(time.Duration(v * float64(time.Second)))
}
