package rules_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/target"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/tools/testkit/promtest"
)

const (
	scrapeInterval = time.Minute
	// evalDelay separates a scrape from the evaluation after it.
	evalDelay = 10 * time.Second
)

// house is a fleet of probers and the Prometheus that watches it.
type house struct {
	*promtest.Server
	t       *testing.T
	now     time.Time
	probers []*prober
	// read names the families that the rules read; the others are not stored.
	read map[string]bool
}

func newHouse(t *testing.T, in rules.Input, replicas int) *house {
	t.Helper()
	file, err := generate(t, in).PrometheusYAML()
	if err != nil {
		t.Fatal(err)
	}
	h := &house{
		Server: promtest.New(t, file, scrapeInterval), t: t, now: time.Unix(1_800_000_000, 0).UTC().Truncate(time.Hour),
		read: map[string]bool{},
	}
	for _, m := range slices.Concat(metrics.Catalog(), metrics.PagerCatalog()) {
		h.read[m.Name] = bytes.Contains(file, []byte(m.Name))
	}
	for i := range replicas {
		p := &prober{
			instance: "prober-" + strconv.Itoa(i), clock: &h.now, jobs: in.Jobs,
			configured: sinkJobs(in), share: 1 / float64(replicas), behave: ok,
			due: map[rules.Job]float64{}, turns: map[rules.Job]int{},
		}
		p.restart()
		h.probers = append(h.probers, p)
	}
	return h
}

func sinkJobs(in rules.Input) []fleet.Job {
	var out []fleet.Job
	for _, r := range in.Jobs {
		j := fleet.Job{Objectives: in.SLOs, ServerMetrics: true}
		j.Target = target.Target{Name: r.Target, Model: "m", Connection: target.Reuse, BaseURL: "http://user:secret@gateway:8000/v1?key=secret"}
		j.Workload.Name, j.Workload.Recall, j.Traffic.Rate = r.Workload, 1, r.ConversationsPerMinute/60
		j.Workload.Timeouts.Total = r.TurnTimeout
		out = append(out, j)
	}
	return out
}

// run simulates time: each minute has traffic, then a scrape, then an evaluation.
func (h *house) run(d time.Duration) {
	for range int(d / scrapeInterval) {
		h.passes(scrapeInterval, false)
		h.EvaluateGroups("", h.now, h.now.Add(evalDelay))
	}
}

// scrapes simulates time without rules, except for those that long windows read.
func (h *house) scrapes(d time.Duration) { h.passes(d, true) }

func (h *house) passes(d time.Duration, only bool) {
	for range int(d / scrapeInterval) {
		h.now = h.now.Add(scrapeInterval)
		for _, p := range h.probers {
			p.minute()
			h.Scrape(h.now, p.instance, h.samples(p))
		}
		if only {
			h.EvaluateGroups("synthetic-slo-rates", h.now, h.now.Add(evalDelay))
		}
	}
}

// samples are the series of a prober, none if it is down: those of a scrape without native histograms, except sums and
// counts of histograms, which no rule reads. Each prober has its own cluster.
func (h *house) samples(p *prober) []promtest.Sample {
	if p.down {
		return nil
	}
	families, err := p.recorder.Only(func(family string) bool { return h.read[family] }).Gather()
	if err != nil {
		h.t.Fatal(err)
	}
	base := labels.FromStrings("cluster", "of-"+p.instance, "pod", p.instance)
	wanted := func(series string) bool {
		return !strings.HasSuffix(series, "_sum") && !strings.HasSuffix(series, "_count")
	}
	var out []promtest.Sample
	for _, f := range families {
		for _, m := range f.Metric {
			promtest.Each(f.GetName(), m, wanted, func(s promtest.Value) {
				out = append(out, promtest.Sample{Labels: s.Labels(m, base), Value: s.Value})
			})
		}
	}
	return out
}

// firing lists the firing alerts, each with its name and subject.
func (h *house) firing() []string {
	return h.Firing("target", "workload", "turn", "slo", "reason", "instance")
}

// query evaluates an expression now. The keys of the result are the labels of its series.
func (h *house) query(expr string) map[string]float64 {
	h.t.Helper()
	return h.Query(expr, h.now.Add(evalDelay))
}
