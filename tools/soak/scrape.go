//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// tally holds the program's counts for a target.
type tally struct {
	Started, InFlight float64
	// Unsent turns never reached the target. Unclear turns were cut short by the program or
	// by its slowness, and may have reached it.
	Unsent, Unclear float64
	// Violations counts violations of the objective of availability.
	Violations float64
}

// counts holds the tally of each target by name.
type counts map[string]tally

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
func (p *program) metrics(ctx context.Context) (map[string]*dto.MetricFamily, error) {
	status, body, err := p.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, errors.New("/metrics: " + http.StatusText(status))
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	return families, err
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
	each("synthetic_turns_in_flight", func(t *tally, _ string, v float64) { t.InFlight += v })
	each("synthetic_slo_violations_total", func(t *tally, slo string, v float64) {
		if slo == "availability" {
			t.Violations += v
		}
	})
	each("synthetic_turns_canceled_total", func(t *tally, _ string, v float64) { t.Unclear += v })
	ended := func(t *tally, reason string, v float64) {
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

// settle waits for the end of the last turn and for a newer rendering of /metrics, when no new
// conversations start. received counts the requests that arrived.
func (p *program) settle(received func() float64) (counts, error) {
	before := 0.0
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(1500 * time.Millisecond) {
		families, err := p.metrics(context.Background())
		c, came, inFlight := countsOf(families), received(), 0.0
		for _, t := range c {
			inFlight += t.InFlight
		}
		if err == nil && inFlight == 0 && came == before {
			return c, nil
		}
		before = came
	}
	return nil, errors.New("turns are in flight a minute after the last conversation began")
}
