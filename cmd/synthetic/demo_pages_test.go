package main

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/metrics"
	"synthetic/internal/promtest"
)

// page is an alert that fired in a stage.
type page struct {
	alert, severity string
	// signal, turn and slo are labels; "" where the alert has none.
	signal, turn, slo string
	// first and last are when it fired, from the start.
	first, last time.Duration
	// part is the likely part that its text named first; "" where it names none.
	part string
	text string
}

// String is a page in short.
func (g page) String() string {
	about := strings.Join(strings.Fields(strings.Join([]string{g.severity, g.alert, g.slo, g.turn, g.signal, g.part}, " ")), " ")
	return fmt.Sprintf("%s at %v", about, g.first)
}

var namedPart = regexp.MustCompile(`Likely part: (\w+)`)

// pages evaluates the rules of the demo's pager at each scrape and returns what
// fired, in the order of time.
func (p played) pages(t *testing.T) []page {
	t.Helper()
	files, err := pagerRules(p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := promtest.New(t, files[0].Data, demoTick)
	seen := map[string]*page{}
	for _, s := range p.scrapes {
		server.Scrape(s.at, "prober", s.samples)
		server.Evaluate(s.at)
		for _, a := range server.Alerts() {
			key := a.Labels.String()
			if seen[key] == nil {
				seen[key] = &page{
					alert: a.Labels.Get("alertname"), severity: a.Labels.Get("severity"),
					signal: a.Labels.Get("signal"), turn: a.Labels.Get("turn"), slo: a.Labels.Get("slo"),
					first: s.at.Sub(p.began), text: a.Annotations.Get("description"),
				}
				if m := namedPart.FindStringSubmatch(seen[key].text); m != nil {
					seen[key].part = m[1]
				}
			}
			seen[key].last = s.at.Sub(p.began)
		}
	}
	var out []page
	for _, one := range seen {
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b page) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.alert+a.signal+a.turn+a.slo, b.alert+b.signal+b.turn+b.slo))
	})
	return out
}

// ratios are the geometric means of a span of the stage in relation to the
// baseline, by turn and signal, as in "first ttft".
func (p played) ratios(from, to time.Duration) map[string]float64 {
	type sums struct{ log2, baseline, turns float64 }
	read := func(at time.Duration) map[string]*sums {
		out := map[string]*sums{}
		i := slices.IndexFunc(p.scrapes, func(s scrape) bool { return s.at.Sub(p.began) >= at })
		for _, s := range p.scrapes[i].samples {
			key := s.Labels.Get("turn") + " " + s.Labels.Get("signal")
			if out[key] == nil {
				out[key] = &sums{}
			}
			switch s.Labels.Get(model.MetricNameLabel) {
			case metrics.SignalLog2:
				out[key].log2 += s.Value
			case metrics.SignalBaselineLog2:
				out[key].baseline += s.Value
			case metrics.SignalTurns:
				out[key].turns += s.Value
			}
		}
		return out
	}
	before, ratios := read(from), map[string]float64{}
	for key, now := range read(to) {
		if was := before[key]; was != nil && now.turns > was.turns {
			ratios[key] = math.Exp2((now.log2 - was.log2 - now.baseline + was.baseline) / (now.turns - was.turns))
		}
	}
	return ratios
}

// turns is how many turns ended.
func (p played) turns() float64 {
	sum := 0.0
	for _, s := range p.scrapes[len(p.scrapes)-1].samples {
		if s.Labels.Get(model.MetricNameLabel) == metrics.Turns {
			sum += s.Value
		}
	}
	return sum
}

// failed is the share of the turns that failed from a time on.
func (p played) failed(from time.Duration) float64 {
	read := func(s scrape) (failed, all float64) {
		for _, one := range s.samples {
			switch one.Labels.Get(model.MetricNameLabel) {
			case metrics.TurnFailures:
				failed += one.Value
			case metrics.Turns:
				all += one.Value
			}
		}
		return failed, all
	}
	i := slices.IndexFunc(p.scrapes, func(s scrape) bool { return s.at.Sub(p.began) >= from })
	failedBefore, before := read(p.scrapes[i])
	failed, all := read(p.scrapes[len(p.scrapes)-1])
	return (failed - failedBefore) / max(1, all-before)
}
