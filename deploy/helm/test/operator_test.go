package chart

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb"
	strict "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// operated is a configuration whose target has the labels that the operator sets, too.
const operated = `
targets:
  - {name: chat-0, base_url: "http://127.0.0.1:9/v1", model: m, service: chat, labels: {namespace: llm-prod, pod: engine-1, container: vllm, endpoint: generate}}
workloads: [{name: chat, turns: {min: 1, max: 1}}]
traffic: [{targets: "*", workload: chat, arrival: {process: constant, rate: 2}, burst_rate: 0}]
slos: [{sli: availability, objective: 99.5%}]
`

// byTheOperator are the scrapes that the operator makes of a ServiceMonitor and of a PodMonitor. Its own relabelings
// come first, those of the monitor follow.
var byTheOperator = map[string]string{
	"ServiceMonitor": `
  - {source_labels: [job], target_label: __tmp_prometheus_job_name}
  - {action: keep, source_labels: [__meta_kubernetes_service_label_app_kubernetes_io_name], regex: synthetic}
  - {action: keep, source_labels: [__meta_kubernetes_endpointslice_port_name], regex: http}
  - {source_labels: [__meta_kubernetes_endpointslice_address_target_kind, __meta_kubernetes_endpointslice_address_target_name], regex: Pod;(.*), target_label: pod}
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_service_name], target_label: service}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
  - {source_labels: [__meta_kubernetes_pod_container_name], target_label: container}
  - {source_labels: [__meta_kubernetes_service_name], target_label: job}
  - {target_label: endpoint, replacement: http}
`,
	"PodMonitor": `
  - {source_labels: [job], target_label: __tmp_prometheus_job_name}
  - {action: keep, source_labels: [__meta_kubernetes_pod_container_port_name], regex: http}
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_pod_container_name], target_label: container}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
  - {target_label: job, replacement: probing/rel-synthetic}
  - {target_label: endpoint, replacement: http}
`,
}

// discovered are the labels of the pod before relabeling.
var discovered = map[string]string{
	"job": "serviceMonitor/probing/rel-synthetic/0", "__meta_kubernetes_namespace": "probing",
	"__meta_kubernetes_service_name": "rel-synthetic", "__meta_kubernetes_service_label_app_kubernetes_io_name": "synthetic",
	"__meta_kubernetes_endpointslice_port_name":           "http",
	"__meta_kubernetes_endpointslice_address_target_kind": "Pod", "__meta_kubernetes_endpointslice_address_target_name": "rel-synthetic-0",
	"__meta_kubernetes_pod_name": "rel-synthetic-0", "__meta_kubernetes_pod_container_name": "synthetic", "__meta_kubernetes_pod_container_port_name": "http",
}

// endpointOf returns the only endpoint of a monitor; both kinds have the fields that the chart sets.
func endpointOf(t *testing.T, o object) monitoring.Endpoint {
	t.Helper()
	var m struct {
		Spec struct{ Endpoints, PodMetricsEndpoints []monitoring.Endpoint }
	}
	if err := yaml.Unmarshal(o.text, &m); err != nil {
		t.Fatal(err)
	}
	all := append(m.Spec.Endpoints, m.Spec.PodMetricsEndpoints...)
	if len(all) != 1 {
		t.Fatalf("%s has %d endpoints", o.Kind, len(all))
	}
	return all[0]
}

// targetLabels returns the labels that the scrape of a monitor adds.
func targetLabels(t *testing.T, kind string, e monitoring.Endpoint, address string) labels.Labels {
	t.Helper()
	var configs, own []*relabel.Config
	for _, r := range e.RelabelConfigs {
		c := &relabel.Config{Action: relabel.Action(r.Action), TargetLabel: r.TargetLabel, Regex: relabel.MustNewRegexp(r.Regex), NameValidationScheme: model.UTF8Validation}
		own = append(own, c)
	}
	if err := strict.Unmarshal([]byte(byTheOperator[kind]), &configs); err != nil {
		t.Fatal(err)
	}
	for _, c := range configs {
		c.NameValidationScheme = model.UTF8Validation
	}
	b := labels.NewBuilder(labels.FromMap(discovered))
	b.Set("__address__", address)
	if !relabel.ProcessBuilder(b, append(configs, own...)...) {
		t.Fatalf("%s: the scrape drops the pod", kind)
	}
	b.Set("instance", address)
	b.Range(func(l labels.Label) {
		if strings.HasPrefix(l.Name, "__") {
			b.Del(l.Name)
		}
	})
	return b.Labels()
}

// scraped is a series with its value.
type scraped struct {
	series labels.Labels
	value  float64
}

// scrape reads a page of metrics until the target has failed three times.
func scrape(t *testing.T, address string) model.Vector {
	t.Helper()
	for {
		resp, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		page := expfmt.NewTextParser(model.UTF8Validation)
		families, err := page.TextToMetricFamilies(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", address, resp.Status, err)
		}
		samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, slices.Collect(maps.Values(families))...)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(samples, func(s *model.Sample) bool {
			return s.Metric["__name__"] == "synthetic_consecutive_failed_turns" && s.Value >= 3
		}) {
			return samples
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the target does not fail")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// merged returns the series that Prometheus stores for the samples of a target.
func merged(samples model.Vector, target labels.Labels, honor bool) (all []scraped) {
	for _, s := range samples {
		b := labels.NewBuilder(target)
		for name, value := range s.Metric {
			if target.Has(string(name)) && !honor {
				name = "exported_" + name
			}
			b.Set(string(name), string(value))
		}
		all = append(all, scraped{b.Labels(), float64(s.Value)})
	}
	return all
}

// later returns the value of a series after a number of seconds in which everything goes on as before.
func (s scraped) later(seconds float64) float64 {
	switch name := s.series.Get("__name__"); {
	case name == "synthetic_failing_seconds":
		return seconds
	case strings.HasSuffix(name, "_timestamp_seconds"):
		return s.value + seconds
	case strings.HasSuffix(name, "_total"), strings.HasSuffix(name, "_count"), strings.HasSuffix(name, "_sum"), strings.HasSuffix(name, "_bucket"):
		return s.value * (1 + seconds/15)
	}
	return s.value
}

// prometheus evaluates the rules for ten minutes and returns the alerts whose expressions then have results, with their
// labels but for those of the scrape, and the number of series in each panel of the boards.
func prometheus(t *testing.T, ruleFile string, all []scraped) (alerts []string, panels map[string]int) {
	t.Helper()
	db, err := tsdb.Open(t.TempDir(), nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	syntax := parser.NewParser(parser.Options{})
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 50e6, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true, Parser: syntax})
	text, err := os.ReadFile(ruleFile)
	if err != nil {
		t.Fatal(err)
	}
	parsed, errs := rulefmt.Parse(text, false, model.UTF8Validation, syntax, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	began := time.Now()
	ask := func(query string, at time.Duration) promql.Vector {
		q, err := engine.NewInstantQuery(t.Context(), db, nil, query, began.Add(at))
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer q.Close()
		v, err := q.Exec(t.Context()).Vector()
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return v
	}
	store := func(at time.Duration, all ...scraped) {
		app := db.Appender(t.Context())
		for _, s := range all {
			if _, err := app.Append(0, s.series, began.Add(at).UnixMilli(), s.value); err != nil {
				t.Fatalf("%s: %v", s.series, err)
			}
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for at := time.Duration(0); at <= 10*time.Minute; at += 15 * time.Second {
		var now []scraped
		for _, s := range all {
			now = append(now, scraped{s.series, s.later(at.Seconds())})
		}
		store(at, now...)
		for _, group := range parsed.Groups {
			for _, rule := range group.Rules {
				for _, s := range ask(rule.Expr, at) {
					b := labels.NewBuilder(s.Metric).Set("__name__", rule.Record)
					if rule.Alert != "" {
						b.Set("__name__", "ALERTS").Set("alertname", rule.Alert).Set("alertstate", "firing")
					}
					for name, value := range rule.Labels {
						b.Set(name, value)
					}
					store(at, scraped{b.Labels(), s.F})
				}
			}
		}
	}
	for _, s := range ask("ALERTS", 10*time.Minute) {
		alerts = append(alerts, labels.NewBuilder(s.Metric).Del("job", "instance").Labels().String())
	}
	slices.Sort(alerts)
	panels = map[string]int{}
	for _, query := range boardQueries(t) {
		panels[query] = len(ask(query, 10*time.Minute))
	}
	return alerts, panels
}

var boardVariable = strings.NewReplacer("${target:regex}", "chat-0", "${workload:regex}", ".*", "${instance:regex}", ".*", "$server", ".*", "$__rate_interval", "1m", "$__range", "15m", " @ end()", "")

// boardQueries returns the queries of the chart's boards.
func boardQueries(t *testing.T) (queries []string) {
	t.Helper()
	files, err := filepath.Glob(chartDir + "/dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if expr, ok := v["expr"].(string); ok {
				queries = append(queries, boardVariable.Replace(expr))
			}
			for _, part := range v {
				walk(part)
			}
		case []any:
			for _, part := range v {
				walk(part)
			}
		}
	}
	for _, file := range files {
		var board struct{ Panels any }
		text, err := os.ReadFile(file)
		if err := errors.Join(err, json.Unmarshal(text, &board)); err != nil {
			t.Fatal(err)
		}
		walk(board.Panels)
	}
	return queries
}

// TestTheOperatorsLabels: with the labels that the Prometheus operator adds to the series of either monitor, the rules
// make the same alerts as without them, with the labels of the target, and the boards show as many series.
func TestTheOperatorsLabels(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "synthetic.yml")
	if err := os.WriteFile(file, []byte(operated), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool(t, "SYNTHETIC"), "generate", "rules", "--config.file="+file, "--output.dir="+dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := prober(t, "--config.file="+file, "--web.route-prefix=/probes/llm")
	var samples model.Vector // of the first scrape
	var alone []string
	var aloneShown map[string]int
	for _, kind := range []string{"", "ServiceMonitor", "PodMonitor"} {
		e, target := monitoring.Endpoint{Path: "/probes/llm/metrics"}, labels.FromStrings("job", "synthetic", "instance", address)
		if kind != "" {
			key := strings.ToLower(kind[:1]) + kind[1:]
			e = endpointOf(t, single(t, render(t, "--set-file=configFile="+file, "--set=routePrefix=/probes/llm,"+key+".enabled=true"), kind))
			target = targetLabels(t, kind, e, address)
			if target.Get("namespace") != "probing" || target.Get("service") != "" {
				t.Errorf("%s: the scrape adds %s", kind, target)
			}
		}
		if page := scrape(t, "http://"+address+e.Path); samples == nil {
			samples = page
		}
		alerts, shown := prometheus(t, filepath.Join(dir, "synthetic-rules.yml"), merged(samples, target, e.HonorLabels))
		if kind == "" {
			alone, aloneShown = alerts, shown
			continue
		}
		if !slices.Equal(alerts, alone) {
			t.Errorf("%s: alerts\n%s\nwant\n%s", kind, strings.Join(alerts, "\n"), strings.Join(alone, "\n"))
		}
		for query, n := range aloneShown {
			if shown[query] != n {
				t.Errorf("%s: %d series instead of %d of %s", kind, shown[query], n, query)
			}
		}
		down := slices.IndexFunc(alerts, func(a string) bool { return strings.Contains(a, `"SyntheticTargetDown"`) })
		if down < 0 || !strings.Contains(alerts[down], `namespace="llm-prod"`) || !strings.Contains(alerts[down], `service="chat"`) {
			t.Errorf("%s: the alerts are %q", kind, alerts)
		}
	}
	filled := 0
	for _, n := range aloneShown {
		filled += min(n, 1)
	}
	if filled < 30 {
		t.Errorf("only %d panels have a series", filled)
	}
}

// prober runs "synthetic run" on a free port and returns its address.
func prober(t *testing.T, args ...string) (address string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), tool(t, "SYNTHETIC"), append([]string{"run", "--web.listen-address=127.0.0.1:0"}, args...)...)
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() })
	lines := bufio.NewScanner(log)
	listening := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	var all strings.Builder
	for lines.Scan() {
		fmt.Fprintln(&all, lines.Text())
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return m[1]
		}
	}
	t.Fatalf("the prober does not listen:\n%s", all.String())
	return ""
}
