// Package store keeps what outlives a process: the histories of jobs in a file, the turn log,
// and a reader that restores minutes from a Prometheus.
package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
)

const (
	// Length is the period that is read back.
	Length = 28 * 24 * time.Hour
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
		return nil, fmt.Errorf("the address of Prometheus %q: %w", url, err)
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

// Minutes are the minutes of a job by kind of turn and signal, in order of time.
type Minutes map[Series][]baseline.Minute

// Series identifies a kind of turn and a signal, by index of probe.TurnKinds and sink.Signals.
type Series struct{ Kind, Signal int }

// Read returns the minutes of a job before a time, without empty ones. With an error it returns
// the latest minutes that it has read.
func (r *Reader) Read(ctx context.Context, job probe.Key, before time.Time) (Minutes, error) {
	out := Minutes{}
	first := before.Add(-Length)
	for to := before.Truncate(step); to.After(first); to = to.Add(-span) {
		part := promv1.Range{Start: later(to.Add(-span), first).Truncate(step), End: to, Step: step}
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

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (r *Reader) query(ctx context.Context, job probe.Key, span promv1.Range) (model.Matrix, error) {
	text := fmt.Sprintf(`{__name__=~"%s",%s=%q,%s=%q%s}`, strings.Join(counters(), "|"),
		metrics.LabelTarget, job.Target, metrics.LabelWorkload, job.Workload, r.matchers)
	v, _, _, err := r.api.QueryRange(ctx, text, span)
	if err != nil {
		return nil, fmt.Errorf("reading %q of %q back: %w", job.Workload, job.Target, plain(err))
	}
	matrix, ok := v.(model.Matrix)
	if !ok {
		return nil, fmt.Errorf("reading %q of %q back: the answer is a %s, not a matrix", job.Workload, job.Target, v.Type())
	}
	return matrix, nil
}

// RefusedError is an error that a retry cannot solve.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// plain returns an error without the server's text, which may repeat credentials.
func plain(err error) error {
	var tooLarge *http.MaxBytesError
	var answered *promv1.Error
	switch {
	case errors.As(err, &tooLarge):
		return &RefusedError{fmt.Errorf("the answer has more than %d MiB; fewer series match with state.prometheus.labels", mostAnswer>>20)}
	case !errors.As(err, &answered):
		return err
	case answered.Type == promv1.ErrClient: // this message is the client's own
		return &RefusedError{fmt.Errorf("%s; see whether state.prometheus names its address, and who we are", answered.Msg)}
	case answered.Type == promv1.ErrBadData:
		return &RefusedError{errors.New("the server takes the query for a wrong one; see whether state.prometheus names a Prometheus")}
	}
	return fmt.Errorf("the server answers with an error (%s)", answered.Type)
}

// counters lists the counters that minutes are computed from.
func counters() []string {
	return []string{metrics.SignalTurns, metrics.SignalLog2, metrics.SignalBaselineLog2}
}
