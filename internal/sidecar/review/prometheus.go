package review

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
)

// FromPrometheus reads counters, and incidents from the alerts that a Prometheus has evaluated.
func FromPrometheus(ctx context.Context, url string, client *http.Client, since time.Duration, now time.Time) (*Report, error) {
	c, err := api.NewClient(api.Config{Address: url, Client: client})
	if err != nil {
		return nil, fmt.Errorf("the URL %q of Prometheus: %w", url, err)
	}
	q := &prometheus{api: promv1.NewAPI(c), jobs: map[probe.Key]*Day{}}
	r := &Report{From: now.Add(-since).UTC(), To: now.UTC(), Source: "the Prometheus at " + url}
	if err := q.count(ctx, r); err != nil {
		return nil, err
	}
	var days []Day
	for _, d := range q.jobs {
		days = append(days, *d)
	}
	r.Jobs = Sum(days)
	return r, q.incidents(ctx, r)
}

type prometheus struct {
	api  promv1.API
	jobs map[probe.Key]*Day
}

// each evaluates a query and calls f for each sample of the result.
func (q *prometheus) each(ctx context.Context, query string, at time.Time, f func(labels model.Metric, v float64)) error {
	v, _, _, err := q.api.Query(ctx, query, at)
	if err != nil {
		return fmt.Errorf("asking Prometheus for %s: %w%s", query, err, remedy(err))
	}
	vector, ok := v.(model.Vector)
	if !ok {
		return fmt.Errorf("asking Prometheus for %s: the answer is a %s, not a vector", query, v.Type())
	}
	for _, s := range vector {
		f(s.Metric, float64(s.Value))
	}
	return nil
}

func (q *prometheus) job(m model.Metric) *Day {
	key := keyOf(m)
	if q.jobs[key] == nil {
		q.jobs[key] = &Day{Target: key.Target, Workload: key.Workload}
	}
	return q.jobs[key]
}

func keyOf(m model.Metric) probe.Key {
	return probe.Key{Target: string(m[metrics.LabelTarget]), Workload: string(m[metrics.LabelWorkload])}
}

// rise is the query of how much a counter rose in a time.
func rise(counter, matchers, by string, d time.Duration) string {
	return fmt.Sprintf("sum by (%s) (increase(%s{%s}[%ds]))", by, counter, matchers, int(d.Seconds()))
}

const perJob, perObjective = "target, workload", "target, workload, slo"

func (q *prometheus) count(ctx context.Context, r *Report) error {
	span, wanted := r.To.Sub(r.From), map[string]float64{}
	of := func(m model.Metric) Objective {
		name := string(m[metrics.LabelSLO])
		return Objective{Name: name, Wanted: wanted[name]}
	}
	for _, s := range []struct {
		query string
		take  func(m model.Metric, v float64)
	}{
		{fmt.Sprintf("max by (slo) (last_over_time(%s[%ds]))", metrics.SLOObjective, int(span.Seconds())), func(m model.Metric, v float64) { wanted[string(m[metrics.LabelSLO])] = v }},
		{rise(metrics.SLOTurns, "", perObjective, span), func(m model.Metric, v float64) {
			o := of(m)
			o.Judged = count(v)
			q.job(m).add(o)
		}},
		{rise(metrics.SLOViolations, "", perObjective, span), func(m model.Metric, v float64) {
			o := of(m)
			o.Bad = count(v)
			q.job(m).add(o)
		}},
		{rise(metrics.Turns, "", perJob, span), func(m model.Metric, v float64) { q.job(m).Turns = count(v) }},
		{rise(metrics.TurnFailures, "", perJob, span), func(m model.Metric, v float64) { q.job(m).Failed = count(v) }},
		{rise(metrics.PromptTokens, "", perJob, span), func(m model.Metric, v float64) { q.job(m).Tokens.Prompt = v }},
		{rise(metrics.CachedPromptTokens, "", perJob, span), func(m model.Metric, v float64) { q.job(m).Tokens.Cached = v }},
		{rise(metrics.OutputTokens, "", perJob, span), func(m model.Metric, v float64) { q.job(m).Tokens.Output = v }},
	} {
		if err := q.each(ctx, s.query, r.To, s.take); err != nil {
			return err
		}
	}
	return nil
}

func count(v float64) int { return int(math.Round(v)) }

const (
	// alertPoints is the number of points at which the alerts are read; Prometheus returns at most 11,000.
	alertPoints = 10_000
	// oneIncident is the longest time between two alerts of one incident.
	oneIncident = 15 * time.Minute
	// mostIncidents bounds the incidents whose bad turns are asked for.
	mostIncidents = 100
)

// incidents makes incidents of the alerts of each target and workload.
func (q *prometheus) incidents(ctx context.Context, r *Report) error {
	step := max(time.Minute, r.To.Sub(r.From)/alertPoints)
	const query = `ALERTS{alertname=~"Synthetic.+", alertstate="firing"}`
	matrix, err := queryRange(ctx, q.api, query, promv1.Range{Start: r.From, End: r.To, Step: step})
	if err != nil {
		return fmt.Errorf("asking Prometheus for %s: %w%s", query, err, remedy(err))
	}
	firing := map[probe.Key][]Alert{} // one for each moment
	for _, series := range matrix {
		key := keyOf(series.Metric)
		for _, p := range series.Values {
			firing[key] = append(firing[key], Alert{
				string(series.Metric[model.AlertNameLabel]), string(series.Metric["severity"]), p.Timestamp.Time().UTC(),
			})
		}
	}
	for key, alerts := range firing {
		slices.SortFunc(alerts, func(a, b Alert) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Name, b.Name)) })
		var current *Incident
		for _, a := range alerts {
			if current == nil || a.From.After(current.Ended.Add(oneIncident)) {
				r.Incidents = append(r.Incidents, Incident{Since: a.From, alertsOnly: true})
				current = &r.Incidents[len(r.Incidents)-1]
				if current.About.Key = key; key.Target == "" {
					current.About.Other = "several targets, or the prober"
				}
			}
			current.extend(a, a.From.Add(step))
		}
		if current.Ended.After(r.To.Add(-step)) {
			current.Ended = time.Time{}
		}
	}
	r.sortIncidents()
	return q.spent(ctx, r)
}

// extend makes the incident last until a time, and adds an alert that it does not have yet.
func (i *Incident) extend(a Alert, until time.Time) {
	i.Ended = until
	if slices.ContainsFunc(i.Alerts, func(have Alert) bool { return have.Name == a.Name && have.Severity == a.Severity }) {
		return
	}
	if i.Headline != "" {
		i.Headline += ", "
	}
	i.Alerts, i.Headline = append(i.Alerts, a), i.Headline+a.Name
}

// spent reads the bad turns of each incident.
func (q *prometheus) spent(ctx context.Context, r *Report) error {
	for n := range r.Incidents[:min(len(r.Incidents), mostIncidents)] {
		i, end := &r.Incidents[n], r.Incidents[n].Ended
		if end.IsZero() {
			end = r.To
		}
		if i.About.Target == "" {
			continue
		}
		matchers := fmt.Sprintf("target=%q, workload=%q", i.About.Target, i.About.Workload)
		i.Bad = map[string]int{}
		err := q.each(ctx, rise(metrics.SLOViolations, matchers, "slo", end.Sub(i.Since)), end, func(m model.Metric, v float64) {
			i.Bad[string(m[metrics.LabelSLO])] = count(v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
