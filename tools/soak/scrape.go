//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// tally holds the program's counts for a target.
type tally struct {
	Started, InFlight, Ended float64
	// Unsent turns never reached the target. Unclear turns were cut short by the program or
	// by its slowness, and may have reached it.
	Unsent, Unclear float64
	// Violations counts violations of the objective of availability.
	Violations float64
	// Failed counts failed turns by outcome.
	Failed map[string]float64
}

// counts holds the tally of each target by name.
type counts map[string]tally

// sum adds up all targets.
func (c counts) sum() tally {
	all := tally{Failed: map[string]float64{}}
	for _, t := range c {
		all.Started, all.InFlight, all.Ended = all.Started+t.Started, all.InFlight+t.InFlight, all.Ended+t.Ended
		for reason, n := range t.Failed {
			all.Failed[reason] += n
		}
	}
	return all
}

// listOf lists the outcomes with their counts.
func listOf(outcomes map[string]float64) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(outcomes)) {
		if n := outcomes[name]; n > 0 {
			out = append(out, fmt.Sprintf("%.0f %s", n, name))
		}
	}
	return out
}

// pageLimit bounds the size of a page.
const pageLimit = 64 << 20

// get requests a page of the program over a new connection.
func (p *program) get(ctx context.Context, path string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+path, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, pageLimit))
	return resp.StatusCode, body, err
}

// metrics reads the program's /metrics.
func (p *program) metrics(ctx context.Context) (map[string]*dto.MetricFamily, []byte, error) {
	status, body, err := p.get(ctx, "/metrics")
	if err != nil {
		return nil, nil, err
	}
	if status != http.StatusOK {
		return nil, nil, errors.New("/metrics: " + http.StatusText(status))
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	return families, body, err
}

func (p *program) counts() (counts, error) {
	families, _, err := p.metrics(context.Background())
	if err != nil {
		return nil, err
	}
	return countsOf(families), nil
}

func countsOf(families map[string]*dto.MetricFamily) counts {
	out := counts{}
	each := func(name string, take func(t *tally, reason string, v float64)) {
		for _, m := range families[name].GetMetric() {
			target, reason := "", ""
			for _, l := range m.Label {
				switch l.GetName() {
				case "target":
					target = l.GetValue()
				case "reason", "slo":
					reason = l.GetValue()
				}
			}
			t := out[target]
			take(&t, reason, m.GetCounter().GetValue()+m.GetGauge().GetValue())
			out[target] = t
		}
	}
	each("synthetic_turns_started_total", func(t *tally, _ string, v float64) { t.Started += v })
	each("synthetic_turns_total", func(t *tally, _ string, v float64) { t.Ended += v })
	each("synthetic_turns_in_flight", func(t *tally, _ string, v float64) { t.InFlight += v })
	each("synthetic_slo_violations_total", func(t *tally, slo string, v float64) {
		if slo == "availability" {
			t.Violations += v
		}
	})
	each("synthetic_turns_canceled_total", func(t *tally, _ string, v float64) { t.Unclear += v })
	ended := func(t *tally, reason string, v float64) {
		if t.Failed == nil {
			t.Failed = map[string]float64{}
		}
		t.Failed[reason] += v
		switch reason {
		case "connect_error", "tls_error", "not_sent":
			t.Unsent += v
		case "prober_late":
			t.Unclear += v
		}
	}
	each("synthetic_turn_failures_total", ended)
	each("synthetic_turn_own_faults_total", ended)
	return out
}
