package dashboard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
)

// perJob and perTurn are the populations that a distribution is never summed
// over: targets and prompt classes differ in kind, and so do the turns.
func perJob() []string { return []string{metrics.LabelTarget, metrics.LabelWorkload} }

func perTurn() []string { return append(perJob(), metrics.LabelTurn) }

// rateWindow is the window of rates and quantiles. Grafana makes it at least
// four times the panel's min interval ($resolution) and at least one step, so
// that no sample between two points is left out however far one zooms out.
const rateWindow = "$__rate_interval"

// matcher is one label matcher, written out.
type matcher struct{ label, op, value string }

func (m matcher) String() string { return m.label + m.op + strconv.Quote(m.value) }

func equal(label, value string) matcher { return matcher{label, "=", value} }

func turnIs(k probe.TurnKind) matcher { return equal(metrics.LabelTurn, string(k)) }

func sloIs(name string) matcher { return equal(metrics.LabelSLO, name) }

// scope holds the matchers that a dashboard's variables put on each series.
type scope []matcher

// jobScope selects by target and workload.
func jobScope() scope {
	return scope{
		{metrics.LabelTarget, "=~", "$" + varTarget},
		{metrics.LabelWorkload, "=~", "$" + varWorkload},
	}
}

// proberScope selects by the prober's own instance too.
func proberScope() scope {
	return append(jobScope(), matcher{labelInstance, "=~", "$" + varInstance})
}

// series selects a metric of the catalog, by those variables whose label it
// has, and by more.
func (s scope) series(metric string, more ...matcher) string {
	labels := append(labelsOf(metric), labelJob, labelInstance)
	var written []string
	for _, m := range append(slices.Clone(s), more...) {
		if slices.Contains(labels, m.label) {
			written = append(written, m.String())
		}
	}
	if len(written) == 0 {
		return metric
	}
	return metric + "{" + strings.Join(written, ",") + "}"
}

// labelsOf returns a metric's labels; nil when the catalog lacks it.
func labelsOf(metric string) []string {
	for _, m := range metrics.Catalog() {
		if m.Name == metric {
			return slices.Clone(m.Labels)
		}
	}
	return nil
}

// rate is the increase per second, summed by labels.
func (s scope) rate(by []string, metric string, more ...matcher) string {
	return sum(by, over("rate", s.series(metric, more...), rateWindow))
}

// perMinute is the increase per minute: probes are rare, and a reader thinks
// of them in minutes.
func (s scope) perMinute(by []string, metric string, more ...matcher) string {
	return s.rate(by, metric, more...) + " * 60"
}

// share is the increase of part over the increase of whole. Where nothing
// happened it is NaN and drawn as a gap: unknown is not zero.
func (s scope) share(by []string, part, whole string, more ...matcher) string {
	return s.rate(by, part, more...) + " / " + s.rate(by, whole, more...)
}

// gauge aggregates a gauge with max, so that replicas which export the same
// value do not add up.
func (s scope) gauge(by []string, metric string, more ...matcher) string {
	return aggregate("max", by, s.series(metric, more...))
}

// total adds a gauge up over replicas.
func (s scope) total(by []string, metric string, more ...matcher) string {
	return sum(by, s.series(metric, more...))
}

// buckets is the rate of a histogram's classic buckets, summed by labels.
func (s scope) buckets(by []string, metric string, more ...matcher) string {
	selected := strings.Replace(s.series(metric, more...), metric, metric+"_bucket", 1)
	return sum(append([]string{labelLE}, by...), over("rate", selected, rateWindow))
}

// quantile estimates the q-quantile of a histogram within each of by.
func (s scope) quantile(q float64, by []string, metric string, more ...matcher) string {
	return fmt.Sprintf("histogram_quantile(%s, %s)", number(q), s.buckets(by, metric, more...))
}

// age is how long ago the moment that a gauge names was. A gauge of 0 says
// that there was none yet, and has no age.
func (s scope) age(by []string, metric string, more ...matcher) string {
	return "time() - (" + s.gauge(by, metric, more...) + " > 0)"
}

func sum(by []string, expr string) string { return aggregate("sum", by, expr) }

func aggregate(op string, by []string, expr string) string {
	if len(by) == 0 {
		return fmt.Sprintf("%s(%s)", op, expr)
	}
	return fmt.Sprintf("%s by (%s) (%s)", op, strings.Join(by, ", "), expr)
}

func over(fn, series, window string) string {
	return fmt.Sprintf("%s(%s[%s])", fn, series, window)
}

// ofProber keeps those series of a Go or process collector that belong to a
// synthetic process: every exporter has series of these names.
func (s scope) ofProber(expr string) string {
	return fmt.Sprintf("%s and on (%s, %s) %s", expr, labelJob, labelInstance, s.series(metrics.BuildInfo))
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
