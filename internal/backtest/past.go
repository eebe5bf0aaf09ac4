package backtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"synthetic/internal/sidecar/backfill"
	"synthetic/internal/sidecar/metrics"
)

// past is a Prometheus that scrapes the prober once a minute: what a process
// without a state file reads its history back from. It is an http.RoundTripper that
// answers query_range, so that what reads is what reads in production.
type past struct {
	scraper
	store  *Store
	engine *promql.Engine
	// next is when it scrapes next.
	next time.Time
}

func newPast(start time.Time) *past {
	return &past{
		scraper: scraper{sinks: map[string][]*Series{}}, store: NewStore(), next: start,
		engine: promql.NewEngine(promql.EngineOpts{
			MaxSamples: 50e6, Timeout: time.Minute, LookbackDelta: staleAfter, Parser: parser.NewParser(parser.Options{}),
		}),
	}
}

// kept are the counters that a history is made of, and how far back it is read.
func kept() map[string]time.Duration {
	return map[string]time.Duration{
		metrics.SignalTurns: backfill.Length, metrics.SignalLog2: backfill.Length, metrics.SignalBaselineLog2: backfill.Length,
	}
}

// take scrapes.
func (p *past) take(r *metrics.Recorder) error {
	wanted := map[string]bool{}
	for name := range kept() {
		wanted[name] = true
	}
	p.now = p.next
	p.next = p.now.Add(time.Minute)
	return p.scrape(r.Only(func(family string) bool { return wanted[family] }), p.store, wanted)
}

// tell lets a new process read back what it has.
func (p *past) tell(r *metrics.Recorder) error {
	p.store.Trim(p.now, kept())
	reader, err := backfill.New("http://prometheus", nil, &http.Client{Transport: p})
	if err != nil {
		return err
	}
	defer reader.Close()
	for _, job := range r.Forgetful() {
		minutes, err := reader.Read(context.Background(), job, p.now)
		if err != nil {
			return err
		}
		for of, m := range minutes {
			r.Backfill(job, of.Kind, of.Signal, m)
		}
	}
	return nil
}

// RoundTrip implements http.RoundTripper.
func (p *past) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.ParseForm(); err != nil {
		return nil, err
	}
	matrix, err := p.query(req.Context(), req.Form.Get)
	if err != nil {
		return nil, fmt.Errorf("answering %q: %w", req.Form.Get("query"), err)
	}
	body, err := json.Marshal(map[string]any{"status": "success", "data": map[string]any{"resultType": "matrix", "result": matrix}})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

// query answers a range query with these parameters.
func (p *past) query(ctx context.Context, parameter func(string) string) (model.Matrix, error) {
	var numbers [3]float64
	for i, name := range []string{"start", "end", "step"} {
		var err error
		if numbers[i], err = strconv.ParseFloat(parameter(name), 64); err != nil {
			return nil, err
		}
	}
	at := func(seconds float64) time.Time { return time.UnixMilli(int64(seconds * 1e3)) }
	q, err := p.engine.NewRangeQuery(ctx, p.store, nil, parameter("query"), at(numbers[0]), at(numbers[1]), time.Duration(numbers[2]*float64(time.Second)))
	if err != nil {
		return nil, err
	}
	defer q.Close()
	result, err := q.Exec(ctx).Matrix()
	if err != nil {
		return nil, err
	}
	return matrixOf(result), nil
}

// matrixOf is a result in the form of the API.
func matrixOf(result promql.Matrix) model.Matrix {
	var out model.Matrix
	for _, s := range result {
		one := &model.SampleStream{Metric: model.Metric{}}
		for name, v := range s.Metric.Map() {
			one.Metric[model.LabelName(name)] = model.LabelValue(v)
		}
		for _, p := range s.Floats {
			one.Values = append(one.Values, model.SamplePair{Timestamp: model.Time(p.T), Value: model.SampleValue(p.F)})
		}
		out = append(out, one)
	}
	return out
}
