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

	"synthetic/internal/probe"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/sink"
	"synthetic/tools/testkit/promtest"
	"synthetic/tools/testkit/stage"
)

// page is an alert that fired in a stage.
type page struct {
	alert, severity string
	// slo is a label, "" where the alert has none; signal and turn are those of the
	// largest effect that a page on a regression names.
	signal, turn, slo string
	// first is when it fired first, from the start.
	first time.Duration
	// part is the likely part that its text named first; "" where it names none.
	part string
	text string
}

// String is a page in short.
func (g page) String() string {
	about := strings.Join(strings.Fields(strings.Join([]string{g.severity, g.alert, g.slo, g.turn, g.signal, g.part}, " ")), " ")
	return fmt.Sprintf("%s at %v", about, g.first)
}

var (
	namedPart   = regexp.MustCompile(`Likely part: (\w+)`)
	namedEffect = regexp.MustCompile(`(\w+) of (\w+) turns is`)
)

func newPage(a *promrules.Alert, after time.Duration) page {
	g := page{
		alert: a.Labels.Get("alertname"), severity: a.Labels.Get("severity"),
		turn: a.Labels.Get("turn"), slo: a.Labels.Get("slo"),
		first: after, text: a.Annotations.Get("description"),
	}
	if m := namedEffect.FindStringSubmatch(g.text); m != nil && g.alert == "SyntheticRegression" {
		g.signal, g.turn = m[1], m[2]
	}
	if m := namedPart.FindStringSubmatch(g.text); m != nil {
		g.part = m[1]
	}
	return g
}

// pages evaluates the rules of the demo's pager at each scrape and returns what
// fired, in the order of time.
func (p played) pages(t *testing.T) []page {
	t.Helper()
	files, err := sidecar.PagerRules(p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := promtest.New(t, files[0].Data, demoTick)
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

// ratios are the geometric means of a span of the stage in relation to the
// baseline, by turn and signal, as in "first ttft". What had no turns is left
// out.
func (p played) ratios(from, to time.Duration) map[string]float64 {
	before, after, out := p.at(from), p.at(to), map[string]float64{}
	for _, kind := range probe.TurnKinds() {
		for _, signal := range sink.Signals() {
			grown := func(metric string) float64 {
				of := []string{metrics.LabelTurn, string(kind), metrics.LabelSignal, string(signal)}
				return sum(after, metric, of...) - sum(before, metric, of...)
			}
			if turns := grown(metrics.SignalTurns); turns > 0 {
				ratio := math.Exp2((grown(metrics.SignalLog2) - grown(metrics.SignalBaselineLog2)) / turns)
				out[fmt.Sprint(kind, " ", signal)] = ratio
			}
		}
	}
	return out
}

// turns is how many turns ended.
func (p played) turns() float64 { return sum(p.scrapes[len(p.scrapes)-1], metrics.Turns) }

// failed is the share of the turns that failed from a time on.
func (p played) failed(from time.Duration) float64 {
	before, after := p.at(from), p.scrapes[len(p.scrapes)-1]
	grown := func(metric string) float64 { return sum(after, metric) - sum(before, metric) }
	return grown(metrics.TurnFailures) / max(1, grown(metrics.Turns))
}

// at is the first scrape from a time on.
func (p played) at(after time.Duration) stage.Scrape {
	i := slices.IndexFunc(p.scrapes, func(s stage.Scrape) bool { return s.At.Sub(p.began) >= after })
	return p.scrapes[i]
}

// sum adds up the series of a metric that have some labels, given as names and
// values.
func sum(s stage.Scrape, metric string, of ...string) float64 {
	total := 0.0
	for _, one := range s.Samples {
		matches := one.Labels.Get(model.MetricNameLabel) == metric
		for i := 0; i < len(of); i += 2 {
			matches = matches && one.Labels.Get(of[i]) == of[i+1]
		}
		if matches {
			total += one.Value
		}
	}
	return total
}
