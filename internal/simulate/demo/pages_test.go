package demo

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	promrules "github.com/prometheus/prometheus/rules"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/metrics"
	"synthetic/tools/testkit/promtest"
	"synthetic/tools/testkit/stage"
)

// page is an alert that fired in a run.
type page struct {
	alert, severity string
	// slo is the label, "" if the alert lacks it. signal is that of the largest effect that
	// SyntheticRegression names.
	signal, slo string
	// first is the time of its first firing, since the start.
	first time.Duration
	// part is the first likely part in its text, "" if the text names no part.
	part string
	text string
}

// String implements fmt.Stringer.
func (g page) String() string {
	labels := strings.Join(strings.Fields(strings.Join([]string{g.severity, g.alert, g.slo, g.signal, g.part}, " ")), " ")
	return fmt.Sprintf("%s at %v", labels, g.first)
}

var (
	namedPart   = regexp.MustCompile(`Likely part: (\w+)`)
	namedEffect = regexp.MustCompile(`(\w+) is \S+ times the usual`)
)

func newPage(a *promrules.Alert, first time.Duration) page {
	g := page{
		alert: a.Labels.Get("alertname"), severity: a.Labels.Get("severity"),
		slo:   a.Labels.Get("slo"),
		first: first, text: a.Annotations.Get("description"),
	}
	if m := namedEffect.FindStringSubmatch(g.text); m != nil && g.alert == "SyntheticRegression" {
		g.signal = m[1]
	}
	if m := namedPart.FindStringSubmatch(g.text); m != nil {
		g.part = m[1]
	}
	return g
}

// pages evaluates the rules of the demo's pager at each scrape and returns the alerts that fired, in
// order of time.
func (p recording) pages(t *testing.T) []page {
	t.Helper()
	text, err := sidecar.PagerRules(p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := promtest.New(t, text, pagerInterval)
	seen := map[string]page{}
	for _, s := range p.scrapes {
		server.Scrape(s.At, "prober", s.Samples)
		server.Evaluate(s.At)
		for _, a := range server.Alerts() {
			if key := a.Labels.String(); seen[key].alert == "" {
				seen[key] = newPage(a, s.At.Sub(p.began))
			}
		}
	}
	return slices.SortedFunc(maps.Values(seen), func(a, b page) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.String(), b.String()))
	})
}

// ratios returns the geometric means of a part of the run divided by the usual values, by turn and
// signal, as in "first ttft". It leaves out signals without turns.
func (p recording) ratios(from, to time.Duration) map[string]float64 {
	first, last, out := p.at(from), p.at(to), map[string]float64{}
	for _, kind := range probe.TurnKinds() {
		for _, signal := range fleet.Signals() {
			labels := []string{metrics.LabelTurn, string(kind), metrics.LabelSignal, string(signal)}
			increase := func(metric string) float64 {
				return sum(last, metric, labels...) - sum(first, metric, labels...)
			}
			if turns := increase(metrics.SignalTurns); turns > 0 {
				mean := math.Exp2(increase(metrics.SignalLog2)/turns) / 1e6
				out[fmt.Sprint(kind, " ", signal)] = mean / sum(last, metrics.Baseline, labels...)
			}
		}
	}
	return out
}

// at returns the first scrape at or after a time.
func (p recording) at(after time.Duration) stage.Scrape {
	i := slices.IndexFunc(p.scrapes, func(s stage.Scrape) bool { return s.At.Sub(p.began) >= after })
	return p.scrapes[i]
}

// sum adds up the series of a metric with certain labels: names and values, alternating.
func sum(s stage.Scrape, metric string, labels ...string) float64 {
	total := 0.0
	for _, sample := range s.Samples {
		matches := sample.Labels.Get(model.MetricNameLabel) == metric
		for i := 0; i < len(labels); i += 2 {
			matches = matches && sample.Labels.Get(labels[i]) == labels[i+1]
		}
		if matches {
			total += sample.Value
		}
	}
	return total
}
