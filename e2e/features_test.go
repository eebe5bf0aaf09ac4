//go:build e2e

package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/sidecar/store"
	baseline "synthetic/internal/sidecar/watch"
	"synthetic/internal/slo"
	"synthetic/tools/measured"
)

// prometheusVersion is a version that e2e/run compiles, with the features that it knows and rules may see. Features of
// its pages, of OTLP and of its files are left out.
type prometheusVersion struct{ number, features string }

var prometheusVersions = []prometheusVersion{
	{"3.5.1", "type-and-unit-labels,promql-delayed-name-removal,concurrent-rule-eval,created-timestamp-zero-ingestion," +
		"promql-experimental-functions,promql-duration-expr,promql-per-step-stats,exemplar-storage," +
		"extra-scrape-metrics,metadata-wal-records"},
	{"3.16.0", "type-and-unit-labels,promql-delayed-name-removal,concurrent-rule-eval,created-timestamp-zero-ingestion," +
		"st-storage,st-synthesis,use-start-timestamps,openmetrics2,promql-experimental-functions," +
		"promql-binop-fill-modifiers,promql-unquoted-utf8-names,promql-per-step-stats,exemplar-storage," +
		"extra-scrape-metrics,metadata-wal-records,xor2-encoding,histograms-st-encoding,zstd-scrape,query-cost"},
}

// feature is what a Prometheus does otherwise than by default.
type feature struct {
	name string
	// flags are values of --enable-feature, separated by commas. A version that lacks one is not tested with it.
	flags string
	// global is a key of the configuration, scraped a label on all series.
	global, scraped string
}

// features are the rows of the table. The last has all features of a version.
func features(v prometheusVersion) []feature {
	out := []feature{
		{name: "none"},
		{name: "UTF-8 names of labels", scraped: `"équipe.nom": recherche`},
		{name: "legacy names", global: "metric_name_validation_scheme: legacy"},
	}
	for _, flags := range []string{
		"type-and-unit-labels", "promql-delayed-name-removal", "concurrent-rule-eval", "created-timestamp-zero-ingestion",
		"st-storage,st-synthesis,use-start-timestamps", "openmetrics2",
	} {
		if strings.Contains(v.features, flags) {
			out = append(out, feature{name: "`" + strings.ReplaceAll(flags, ",", "`, `") + "`", flags: flags})
		}
	}
	return append(out, feature{name: "all", flags: v.features, scraped: `"équipe.nom": recherche`})
}

var histogramForms = []string{"classic", "native", "both"}

// scrapes returns the key of a scrape that asks for a form of histograms, and the feature that this needs.
func (v prometheusVersion) scrapes(form string) (key, feature string) {
	key = map[string]string{"both": "always_scrape_classic_histograms: true"}[form]
	switch {
	case form == "classic":
		return "", ""
	case v.number == "3.5.1":
		return key, "native-histograms"
	case key != "":
		key += ", "
	}
	return key + "scrape_native_histograms: true", ""
}

// cell is a Prometheus of the table.
type cell struct {
	column string
	feature
	server *prometheus
	// delays are the times from each fault to its page.
	delays []string
}

// startCell starts a Prometheus that scrapes sidecars.
func startCell(t *testing.T, rules, sidecars string, v prometheusVersion, form string, f feature) *cell {
	key, needs := v.scrapes(form)
	text := fmt.Sprintf(`
global: {scrape_interval: 5s, evaluation_interval: 5s, %s}
rule_files: [%q]
scrape_configs:
  - {job_name: synthetic, static_configs: [{targets: [%s], labels: {%s}}], %s}
`, f.global, rules, sidecars, f.scraped, key)
	program := cached(t, "prometheus-"+v.number, "prometheus")
	var flags []string
	if all := strings.Trim(f.flags+","+needs, ","); all != "" {
		flags = []string{"--enable-feature=" + all}
	}
	server := runPrometheusOf(t, program, "--storage.tsdb.path", text, flags...)
	return &cell{column: v.number + ", " + form, feature: f, server: server}
}

// fault is a fault of the table. Its page has these labels.
type fault struct{ alert, target string }

var tableFaults = []fault{
	{"SyntheticTargetDown", "gone"}, {"SyntheticSLOFastBurn", "busy"}, {"SyntheticRegression", "slow"},
}

func (f fault) firing() string {
	return fmt.Sprintf(`ALERTS{alertname=%q,target=%q,severity="page",alertstate="firing"}`, f.alert, f.target)
}

// pages sets the delays of the pages since faults began, and returns pages that no fault explains.
func (c *cell) pages(t *testing.T, began []time.Time) (others []string) {
	const query = `ALERTS{severity="page",alertstate="firing"}`
	var data struct {
		Result []struct {
			Metric map[string]string
			Values [][2]any
		}
	}
	path := fmt.Sprintf("query_range?query=%s&start=%d&end=%d", url.QueryEscape(query), began[0].Unix(), time.Now().Unix())
	if err := c.server.api(t, path+"&step=1", &data); err != nil {
		t.Fatal(err)
	}
	c.delays = slices.Repeat([]string{"no page"}, len(began))
	for _, r := range data.Result {
		i := slices.IndexFunc(tableFaults, func(f fault) bool {
			return r.Metric["alertname"] == f.alert && r.Metric["target"] == f.target
		})
		if i < 0 {
			others = append(others, identity(r.Metric))
			continue
		}
		c.delays[i] = fmt.Sprintf("%.0f", r.Values[0][0].(float64)-float64(began[i].Unix()))
	}
	return others
}

// TestFeaturesOfPrometheus: the pages about an outage, a burn rate and a regression arrive in two versions of
// Prometheus, with each form of histograms, and with the features that change what rules see. All scrape the same
// sidecar.
func TestFeaturesOfPrometheus(t *testing.T) {
	t.Parallel()
	load := measured.Load()
	gone, busy, slow := startDeployment(t), startDeployment(t), startDeployment(t, "--engine=first_token=1s")
	s := startConfigured(t, fmt.Sprintf(featuresConfig, gone.api(), busy.api(), slow.api()), "--state.file="+knownLevel(t))
	rules := s.generateRules(t)
	var cells []*cell
	for _, v := range prometheusVersions {
		for _, form := range histogramForms {
			for _, f := range features(v) {
				cells = append(cells, startCell(t, rules, s.address, v, form, f))
			}
		}
	}
	for _, c := range cells {
		c.server.awaitSample(t, "sum(increase(synthetic_turns_total[2m])) > 60")
	}
	gone.kill()
	busy.change(t, "--incident=http_500,share=0.4")
	began := []time.Time{time.Now(), time.Now()}
	awaitPages(t, cells, tableFaults[:2])
	gone.restart(t)
	busy.change(t)
	// Three targets that fail share a fault.
	cells[0].server.awaitSample(t, "max(max_over_time(synthetic_consecutive_failed_turns[30s])) == 0")
	slow.change(t, "--engine=first_token=6s")
	began = append(began, time.Now())
	awaitPages(t, cells, tableFaults[2:])
	for _, c := range cells {
		if others := c.pages(t, began); len(others) > 0 {
			t.Errorf("%s, %s: also pages %v", c.column, c.name, others)
		}
	}
	writeFeatures(t, cells, load)
}

// change starts a deployment again with other flags.
func (d *deployment) change(t *testing.T, flags ...string) {
	d.kill()
	d.flags = flags
	d.restart(t)
}

func awaitPages(t *testing.T, cells []*cell, faults []fault) {
	for _, c := range cells {
		for _, f := range faults {
			c.server.awaitSample(t, fmt.Sprintf("last_over_time(%s[15m])", f.firing()))
		}
	}
}

// knownLevel returns a state file in which the target "slow" has a usual TTFT of a second.
func knownLevel(t *testing.T) string {
	now := time.Now()
	tracker := baseline.NewTracker(baseline.TrackerOptions{Now: func() time.Time { return now }})
	var job fleet.Job
	job.Target.Name, job.Workload.Name = "slow", "chat"
	tracker.Add(job)
	var minutes []baseline.Minute
	for at := now.Add(-8 * 24 * time.Hour).Truncate(time.Minute); at.Before(now.Truncate(time.Minute)); at = at.Add(time.Minute) {
		m := baseline.Minute{At: at}
		m.Turns[0] = 30 // first turns; the mean of their logarithms is 0: a second
		minutes = append(minutes, m)
	}
	tracker.Backfill(job.Key(), slices.Index(fleet.Signals(), slo.TTFT), minutes)
	file := filepath.Join(t.TempDir(), "state")
	if err := errors.Join(tracker.States().WriteFile(file), store.Write(file+".history", tracker.Histories())); err != nil {
		t.Fatal(err)
	}
	return file
}

// writeFeatures prints the table, and with -update writes it into the docs.
func writeFeatures(t *testing.T, cells []*cell, load string) {
	header, delays := []string{"feature"}, map[[2]string]string{}
	for _, c := range cells {
		delays[[2]string{c.name, c.column}] = strings.Join(c.delays, ", ")
		if !slices.Contains(header, c.column) {
			header = append(header, c.column)
		}
	}
	rows := [][]string{header}
	for _, f := range features(prometheusVersions[len(prometheusVersions)-1]) { // the newest has them all
		row := []string{f.name}
		for _, column := range header[1:] {
			row = append(row, cmp.Or(delays[[2]string{f.name, column}], "–"))
		}
		rows = append(rows, row)
	}
	text := measured.Here(fmt.Sprintf("%d Prometheus servers", len(cells)), load) + "\n" + measured.Table("---", rows...)
	t.Log(text)
	if *update {
		if err := measured.Replace("../docs/background/e2e.md", "prometheus", text); err != nil {
			t.Fatal(err)
		}
	}
}

const featuresConfig = `
targets: [{name: gone, base_url: %q}, {name: busy, base_url: %q}, {name: slow, base_url: %q}]
workloads: [{name: chat, turns: {min: 1, max: 1}, max_output_tokens: 16}]
traffic: [{targets: "*", workload: chat, arrival: {process: constant, rate: 0.5}, burst_rate: 0}]
slos:
  - {name: ttft, sli: ttft, threshold: 20s, objective: 99%%}
  - {name: availability, sli: availability, objective: 99.5%%}
`
