package rules_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/tools/testkit/promtest"
)

const protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

// TestFeaturesOfPrometheus: the pages about an outage, a burn rate and a regression arrive whatever form of the
// exposition a Prometheus asks for, and with the features that change its labels and names.
func TestFeaturesOfPrometheus(t *testing.T) {
	forms := map[string]struct {
		accept string
		parse  textparse.ParserOptions
	}{
		"text":               {"text/plain;version=0.0.4", textparse.ParserOptions{}},
		"OpenMetrics":        {"application/openmetrics-text;version=1.0.0", textparse.ParserOptions{}},
		"OpenMetrics, UTF-8": {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8", textparse.ParserOptions{}},
		"native":             {protobuf, textparse.ParserOptions{}},
		"native, UTF-8":      {protobuf + ";escaping=allow-utf-8", textparse.ParserOptions{}},
		"native and classic": {protobuf, textparse.ParserOptions{KeepClassicOnClassicAndNativeHistograms: true}},
		"custom buckets":     {protobuf, textparse.ParserOptions{IgnoreNativeHistograms: true, ConvertClassicHistogramsToNHCB: true}},
	}
	for form, f := range forms {
		for name, feature := range map[string]func(*promql.EngineOpts){
			"no feature":           func(*promql.EngineOpts) {},
			"type-and-unit-labels": func(o *promql.EngineOpts) { o.EnableTypeAndUnitLabels = true },
			"delayed-name-removal": func(o *promql.EngineOpts) { o.EnableDelayedNameRemoval = true },
			"both of these and all": func(o *promql.EngineOpts) {
				o.EnableTypeAndUnitLabels, o.EnableDelayedNameRemoval, o.EnableNegativeOffset, o.EnablePerStepStats = true, true, true, true
			},
		} {
			t.Run(form+", "+name, func(t *testing.T) {
				if testing.Short() && (form != "native" || name != "both of these and all") {
					t.Skip("make test-long runs it")
				}
				t.Parallel()
				var o promql.EngineOpts
				feature(&o)
				parse := f.parse
				parse.EnableTypeAndUnitLabels = o.EnableTypeAndUnitLabels
				s := newStreet(t, 1, 30, feature)
				score := 0.
				s.scrape = func(p *prober) []promtest.Sample { return parsed(t, p, f.accept, parse, score) }
				pages := func(want string, began []string) {
					if len(began) != 1 || !strings.HasPrefix(began[0], want+" ") {
						t.Errorf("%v began, want %s", began, want)
					}
				}
				s.lives(2*time.Minute, well, false)
				pages(rules.AlertTargetDown, s.lives(75*time.Second, fails(probe.ConnectError, 0), false))
				s.lives(2*time.Minute, well, false)
				pages(rules.AlertSLOFastBurn+"available", s.lives(75*time.Second, fails(probe.HTTP429, 0), false))
				s.lives(18*time.Minute, well, true)
				score = 1.2
				pages(rules.AlertRegression, s.lives(30*time.Second, well, false))
			})
		}
	}
}

// parsed returns the samples of a scrape in a form, by Prometheus' own parsers. Histograms are left out, since no rule
// reads them. The page scores have the given value.
func parsed(t *testing.T, p *prober, accept string, o textparse.ParserOptions, score float64) (out []promtest.Sample) {
	req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	req.Header.Set("Accept", accept)
	answer := httptest.NewRecorder()
	p.recorder.Handler(promhttp.HandlerOpts{}).ServeHTTP(answer, req)
	parser, err := textparse.New(answer.Body.Bytes(), answer.Header().Get("Content-Type"), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var l labels.Labels
		parser.Labels(&l)
		_, _, v := parser.Series()
		if l.Get(model.MetricNameLabel) == metrics.PageScore {
			v = score
		}
		out = append(out, promtest.Sample{Labels: l, Value: v})
	}
}
