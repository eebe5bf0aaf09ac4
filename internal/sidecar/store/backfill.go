// Package store keeps what outlives a process: the histories of jobs in a file, the turn log,
// and a reader that restores minutes from a Prometheus.
package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/sink"
)

const (
	// period is the time before the start that is read.
	period = 28 * 24 * time.Hour
	// step is the time between two samples of a counter.
	step = time.Minute
	// span is the period of one query. Prometheus returns at most 11,000 points of a series;
	// the byte limit leaves room for several replicas, or for a sequence of pods.
	span       = 4 * 24 * time.Hour
	mostAnswer = 64 << 20
)

// Reader reads the series of earlier processes from one Prometheus. Use New.
type Reader struct {
	api      promv1.API
	client   *http.Client
	matchers string
}

// New returns a Reader of the Prometheus at url, for series with the given labels. client
// authenticates. Close the Reader after use.
func New(url string, labels map[string]string, client *http.Client) (*Reader, error) {
	bounded := *client
	bounded.Transport = limited{client.Transport}
	c, err := api.NewClient(api.Config{Address: url, Client: &bounded})
	if err != nil {
		return nil, fmt.Errorf("the URL %q of Prometheus: %w", url, err)
	}
	r := &Reader{api: promv1.NewAPI(c), client: client}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		r.matchers += fmt.Sprintf(",%s=%q", name, labels[name])
	}
	return r, nil
}

func (r *Reader) Close() { r.client.CloseIdleConnections() }

// limited fails an answer that exceeds the size limit.
type limited struct{ http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, mostAnswer)
	}
	return resp, err
}

// Series identifies a kind of turn and a signal, by index of probe.TurnKinds and sink.Signals.
type Series struct{ Kind, Signal int }

// Read returns the minutes with turns of a job before a time, oldest first. With an error it
// returns the latest minutes that it has read.
func (r *Reader) Read(ctx context.Context, job probe.Key, before time.Time) (map[Series][]baseline.Minute, error) {
	out := map[Series][]baseline.Minute{}
	first := before.Add(-period)
	for to := before.Truncate(step); to.After(first); to = to.Add(-span) {
		part := promv1.Range{Start: to.Add(-min(span, to.Sub(first))).Truncate(step), End: to, Step: step}
		matrix, err := r.query(ctx, job, part)
		if err != nil {
			return out, err
		}
		for series, minutes := range minutesOf(matrix, part) {
			out[series] = append(minutes, out[series]...)
		}
	}
	return out, nil
}

func (r *Reader) query(ctx context.Context, job probe.Key, span promv1.Range) (model.Matrix, error) {
	text := fmt.Sprintf(`{__name__=~"%s",%s=%q,%s=%q%s}`, strings.Join(counters(), "|"),
		metrics.LabelTarget, job.Target, metrics.LabelWorkload, job.Workload, r.matchers)
	v, _, _, err := r.api.QueryRange(ctx, text, span)
	if err != nil {
		return nil, fmt.Errorf("reading the minutes of workload %q of target %q: %w", job.Workload, job.Target, withoutServerText(err))
	}
	matrix, ok := v.(model.Matrix)
	if !ok {
		return nil, fmt.Errorf("reading the minutes of workload %q of target %q: the answer is a %s, not a matrix", job.Workload, job.Target, v.Type())
	}
	return matrix, nil
}

// RefusedError is an error that a retry cannot solve.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// withoutServerText returns an error without the server's text, which may repeat credentials.
func withoutServerText(err error) error {
	var tooLarge *http.MaxBytesError
	var answered *promv1.Error
	switch {
	case errors.As(err, &tooLarge):
		return &RefusedError{fmt.Errorf("the answer exceeds %d MiB; set state.prometheus.labels so that fewer series match", mostAnswer>>20)}
	case !errors.As(err, &answered):
		return err
	case answered.Type == promv1.ErrClient: // this message is the client's own
		return &RefusedError{fmt.Errorf("%s; check the URL and the credentials in state.prometheus", answered.Msg)}
	case answered.Type == promv1.ErrBadData:
		return &RefusedError{errors.New("the server rejects the query; check that state.prometheus names a Prometheus")}
	}
	return fmt.Errorf("the server answered with an error (%s)", answered.Type)
}

// counters lists the counters that minutes are computed from.
func counters() []string {
	return []string{metrics.SignalTurns, metrics.SignalLog2, metrics.SignalBaselineLog2}
}

// reading holds the counters of one process at one time, in the order of counters; NaN if
// missing.
type reading [3]float64

// grid holds readings one step apart.
type grid []reading

func newGrid(span promv1.Range, v float64) grid {
	g := make(grid, span.End.Sub(span.Start)/step+1)
	for i := range g {
		g[i] = reading{v, v, v}
	}
	return g
}

// minutesOf turns the counters of several processes into minutes. It takes the differences of
// each process separately: in a sum, a restart would be hidden.
func minutesOf(matrix model.Matrix, span promv1.Range) map[Series][]baseline.Minute {
	processes, seriesOfProcess := map[model.Fingerprint]grid{}, map[model.Fingerprint]Series{}
	for _, stream := range matrix {
		counter := slices.Index(counters(), string(stream.Metric[model.MetricNameLabel]))
		series, ok := seriesOf(stream.Metric)
		if counter < 0 || !ok {
			continue
		}
		delete(stream.Metric, model.MetricNameLabel)
		process := stream.Metric.Fingerprint()
		if seriesOfProcess[process] = series; processes[process] == nil {
			processes[process] = newGrid(span, math.NaN())
		}
		for _, v := range stream.Values {
			if i := v.Timestamp.Time().Sub(span.Start) / step; i >= 0 && int(i) < len(processes[process]) {
				processes[process][i][counter] = float64(v.Value)
			}
		}
	}
	rose := map[Series]grid{}
	for process, readings := range processes {
		series := seriesOfProcess[process]
		if rose[series] == nil {
			rose[series] = newGrid(span, 0)
		}
		difference(readings, rose[series])
	}
	out := map[Series][]baseline.Minute{}
	for series, sums := range rose {
		for i, sum := range sums {
			if m := minute(span.Start.Add(time.Duration(i)*step), sum); m.Turns > 0 && m.Turns < mostTurns && plausible(m.Mean) {
				out[series] = append(out[series], m)
			}
		}
	}
	return out
}

func seriesOf(m model.Metric) (Series, bool) {
	s := Series{
		Kind:   slices.Index(probe.TurnKinds(), probe.TurnKind(m[metrics.LabelTurn])),
		Signal: slices.Index(sink.Signals(), sink.Signal(m[metrics.LabelSignal])),
	}
	return s, s.Kind >= 0 && s.Signal >= 0
}

// difference adds the increases of one process's counters to sums, by the start of the minute.
// It skips an increase over a gap, which belongs to no single minute.
func difference(readings, sums grid) {
	for i := 1; i < len(readings); i++ {
		before, now := readings[i-1], readings[i]
		if math.IsNaN(before[0]) || math.IsNaN(now[0]) {
			continue
		}
		if now[0] < before[0] { // the process has restarted, and its counters with it
			before = reading{}
		}
		for c := range now {
			sums[i-1][c] += now[c] - before[c]
		}
	}
}

// sameLog2 is the largest difference of two mean logarithms that count as equal. A turn without
// a baseline counts as on its baseline.
const sameLog2 = 1e-6

// minute converts increases to means of the natural logarithm of seconds. The counters hold
// binary logarithms of microseconds.
func minute(at time.Time, rose reading) baseline.Minute {
	turns, log2, expected := rose[0], rose[1], rose[2]
	seconds := func(log2 float64) float64 { return log2/turns*math.Ln2 - math.Log(1e6) }
	m := baseline.Minute{At: at.UTC(), Turns: turns, Mean: seconds(log2)}
	if usual := seconds(expected); math.Abs(log2-expected) > sameLog2*turns && plausible(usual) {
		m.Baseline = probe.Some(usual)
	}
	return m
}

// mostTurns is more than one prober can have in a minute.
const mostTurns = 1e6

// plausible reports whether v can be the logarithm of a latency in seconds: from 1 µs, the
// smallest value of the counters, to a day. NaN cannot.
func plausible(ln float64) bool {
	return ln >= -math.Log(1e6)-sameLog2 && ln <= math.Log(24*3600)
}
