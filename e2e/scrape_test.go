//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// families maps the names of one scrape's metric families to the families.
type families map[string]*dto.MetricFamily

// get fetches a URL and returns its body if the status is 200.
func get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s: %.200s", url, resp.Status, body)
	}
	return body, nil
}

// scrape fetches and parses a page of metrics.
func scrape(t *testing.T, url string) families {
	t.Helper()
	f, err := tryScrape(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func tryScrape(ctx context.Context, url string) (families, error) {
	body, err := get(ctx, url)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	f, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", url, err)
	}
	return f, nil
}

// sum adds up the values of a family over all series with the labels. For histograms it
// uses their sums. It returns 0 without series.
func (f families) sum(name string, labels map[string]string) float64 {
	return f.fold(name, labels, func(m *dto.Metric) float64 {
		switch {
		case m.Histogram != nil:
			return m.Histogram.GetSampleSum()
		case m.Counter != nil:
			return m.Counter.GetValue()
		case m.Gauge != nil:
			return m.Gauge.GetValue()
		default:
			return m.GetUntyped().GetValue()
		}
	})
}

// count adds up the numbers of observations of a histogram.
func (f families) count(name string, labels map[string]string) float64 {
	return f.fold(name, labels, func(m *dto.Metric) float64 { return float64(m.GetHistogram().GetSampleCount()) })
}

func (f families) fold(name string, labels map[string]string, value func(*dto.Metric) float64) float64 {
	var total float64
	for _, m := range f[name].GetMetric() {
		if carries(m, labels) {
			total += value(m)
		}
	}
	return total
}

// carries reports whether the series has all the labels.
func carries(m *dto.Metric, labels map[string]string) bool {
	has := map[string]string{}
	for _, l := range m.GetLabel() {
		has[l.GetName()] = l.GetValue()
	}
	for k, v := range labels {
		if has[k] != v {
			return false
		}
	}
	return true
}

// meanBetween returns the mean of a histogram's observations between two scrapes.
func meanBetween(before, after families, name string) float64 {
	return (after.sum(name, nil) - before.sum(name, nil)) / (after.count(name, nil) - before.count(name, nil))
}
