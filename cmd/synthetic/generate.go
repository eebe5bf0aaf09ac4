package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/atomicfile"
	"synthetic/internal/config"
	"synthetic/internal/dashboard"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/metrics"
)

// output is one file to be written.
type output struct {
	name string
	data []byte
}

// generateFlags are shared by what is made from a configuration.
type generateFlags struct {
	configFile, outputDir    string
	runbookURL, dashboardURL string
	replicas                 int
	severities               rules.Severities
	match, keepLabels        string
	style                    string
	datasource               string
}

func addGenerate(app *kingpin.Application) []command {
	g := app.Command("generate", "Write alert rules and dashboards for a configuration, or the schemas and references of what synthetic reads and exports.")
	return []command{
		fromConfig(g, "rules", "Write alert rules from the SLOs and the traffic of a configuration: a Prometheus rule file and a PrometheusRule resource.", (*generateFlags).rules),
		fromConfig(g, "dashboards", "Write dashboards (Grafana JSON) from the SLOs and the traffic of a configuration.", (*generateFlags).dashboards),
		fromConfig(g, "grafana", "Write the alerts as rules that Grafana evaluates itself, for its provisioning, and the recorded series that they read, for Prometheus.", (*generateFlags).grafana),
		fromConfig(g, "mixin", "Write rules and dashboards as a monitoring mixin (jsonnet).", (*generateFlags).mixin),
		ofProgram(g, "schema", "Write the JSON Schema of a file, by which editors complete and check its keys.", schema, "config", "plan"),
		ofProgram(g, "reference", "Write the reference of every key of a file, as Markdown.", reference, "config", "plan"),
		ofProgram(g, "metrics", "Write the reference of every exported metric, as Markdown.", metricsReference),
	}
}

// fromConfig adds a generator that reads a configuration.
func fromConfig(parent *kingpin.CmdClause, name, help string, build func(*generateFlags, *config.Config) ([]output, error)) command {
	f := &generateFlags{}
	c := parent.Command(name, help)
	c.Flag("config.file", "The configuration file.").Required().PlaceHolder("FILE").StringVar(&f.configFile)
	c.Flag("output.dir", "Directory to write to; it is made if need be.").Required().PlaceHolder("DIR").StringVar(&f.outputDir)
	c.Flag("runbook-url", "Address of the runbooks, put into the alerts; empty leaves the links out.").PlaceHolder("URL").StringVar(&f.runbookURL)
	c.Flag("dashboard-url", "Address under which Grafana serves dashboards by UID (https://grafana.example.org/d), put into the alerts.").PlaceHolder("URL").StringVar(&f.dashboardURL)
	c.Flag("style", "What pages and tickets are called: synthetic (severity page and ticket), or kube-prometheus (critical and warning).").Default("synthetic").EnumVar(&f.style, "synthetic", "kube-prometheus")
	c.Flag("severity.label", "Label that tells pages from tickets, instead of that of the style.").PlaceHolder("NAME").StringVar(&f.severities.Label)
	c.Flag("severity.page", "Its value for pages.").PlaceHolder("VALUE").StringVar(&f.severities.Page)
	c.Flag("severity.ticket", "Its value for tickets.").PlaceHolder("VALUE").StringVar(&f.severities.Ticket)
	if name != "dashboards" {
		c.Flag("match", "Matchers of PromQL that every selector of the rules gets, for a Prometheus that scrapes probers of others, too; the alerts keep their labels.").PlaceHolder("MATCHERS").StringVar(&f.match)
		c.Flag("keep-labels", "Labels of the scrape by which alerts are told apart, with commas: cluster,namespace,pod.").PlaceHolder("NAMES").StringVar(&f.keepLabels)
	}
	if name == "grafana" {
		c.Flag("datasource.uid", "UID of the Prometheus data source in Grafana.").Default("prometheus").PlaceHolder("UID").StringVar(&f.datasource)
	}
	c.Flag("replicas", "How many sidecars run this configuration: their probe rates add up.").Default("1").IntVar(&f.replicas)
	return command{c, func(_ context.Context, e env) error {
		err := f.run(e, build)
		if err == nil && f.match == "" && name != "dashboards" {
			fmt.Fprintln(e.stderr, everybody)
		}
		return err
	}}
}

// everybody is said of rules without matchers.
const everybody = `synthetic: these rules are about every prober that their Prometheus scrapes; where others have some there, too, add for example --match='namespace="llm-probes"'`

// ofProgram adds a generator of a document about synthetic itself; kinds are the
// files that there is one of each for.
func ofProgram(parent *kingpin.CmdClause, name, help string, build func(kind string) (output, error), kinds ...string) command {
	var kind, dir string
	c := parent.Command(name, help)
	if len(kinds) > 0 {
		c.Arg("file", "Of which file: config, the configuration of the sidecar, or plan, that of a sweep.").Default(kinds[0]).EnumVar(&kind, kinds...)
	}
	c.Flag("output.dir", "Directory to write to; it is made if need be. Without it, the text goes to standard output.").PlaceHolder("DIR").StringVar(&dir)
	return command{c, func(_ context.Context, e env) error {
		o, err := build(kind)
		if err == nil && dir == "" {
			_, err = e.stdout.Write(o.data)
		} else if err == nil {
			err = writeAll(e, dir, []output{o})
		}
		return err
	}}
}

func schema(kind string) (output, error) {
	if kind == "plan" {
		return output{"plan.schema.json", config.PlanDocumentation().Schema()}, nil
	}
	return output{"synthetic.schema.json", config.Documentation().Schema()}, nil
}

func reference(kind string) (output, error) {
	if kind == "plan" {
		return output{"plan.md", config.PlanDocumentation().Reference()}, nil
	}
	return output{"configuration.md", config.Documentation().Reference()}, nil
}

func metricsReference(string) (output, error) {
	text, err := metrics.Document()
	return output{"metrics.md", text}, err
}

func (f *generateFlags) run(e env, build func(*generateFlags, *config.Config) ([]output, error)) error {
	if f.replicas < 1 {
		return usagef("--replicas=%d: at least one sidecar probes", f.replicas)
	}
	for _, a := range []struct{ name, value string }{{"runbook-url", f.runbookURL}, {"dashboard-url", f.dashboardURL}} {
		u, err := url.Parse(a.value)
		if a.value != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			return usagef("--%s=%s is no http(s) address: an alert carries it for people to follow", a.name, a.value)
		}
	}
	cfg, err := config.Load(f.configFile)
	if err != nil {
		return err
	}
	files, err := build(f, cfg)
	if err != nil {
		return usagef("%s: %w", f.configFile, err)
	}
	return writeAll(e, f.outputDir, files)
}

// generated are the rules of the configuration.
func (f *generateFlags) generated(cfg *config.Config) (rules.Rules, error) {
	in := sidecar.RulesOf(cfg.ForRules(), f.replicas)
	in.RunbookURL, in.DashboardURL, in.Severities = f.runbookURL, f.dashboardURL, f.called()
	in.Scope.Match = f.match
	if f.keepLabels != "" {
		in.Scope.Keep = strings.Split(f.keepLabels, ",")
	}
	return rules.Generate(in)
}

// rules returns the rule file and the resource that wraps it.
func (f *generateFlags) rules(cfg *config.Config) ([]output, error) {
	generated, err := f.generated(cfg)
	if err != nil {
		return nil, err
	}
	plain, err := generated.PrometheusYAML()
	if err != nil {
		return nil, err
	}
	resource, err := generated.Resource("synthetic", nil)
	if err != nil {
		return nil, err
	}
	return []output{{"synthetic-rules.yml", plain}, {"prometheusrule.yaml", resource}}, nil
}

// grafana returns the alerts for Grafana and, for Prometheus, what they read.
func (f *generateFlags) grafana(cfg *config.Config) ([]output, error) {
	generated, err := f.generated(cfg)
	if err != nil {
		return nil, err
	}
	alerts, err := generated.GrafanaYAML(f.datasource)
	if err != nil {
		return nil, err
	}
	recording, err := generated.Recording().PrometheusYAML()
	if err != nil {
		return nil, err
	}
	return []output{{"grafana-alerts.yaml", alerts}, {"recording-rules.yml", recording}}, nil
}

// called is what pages and tickets are called.
func (f *generateFlags) called() rules.Severities {
	if f.style == "kube-prometheus" {
		return f.severities.Or(rules.KubePrometheus())
	}
	return f.severities
}

func (f *generateFlags) dashboards(cfg *config.Config) ([]output, error) {
	in := dashboard.Input{SLOs: cfg.SLOs, SeverityLabel: f.called().Label, SeverityPage: f.called().Page}
	for _, j := range cfg.Jobs {
		in.Traffic = append(in.Traffic, j.Traffic)
	}
	boards, err := dashboard.Generate(in)
	if err != nil {
		return nil, err
	}
	var files []output
	for _, b := range boards {
		files = append(files, output{b.File, b.JSON})
	}
	return files, nil
}

// writeAll writes the files, each under its final name only once it is whole.
func writeAll(e env, dir string, files []output) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the output directory: %w; choose another --output.dir", err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := atomicfile.Write(path, f.data, 0o644); err != nil {
			return fmt.Errorf("%w; choose another --output.dir", err)
		}
		fmt.Fprintf(e.stdout, "wrote %s\n", path)
	}
	return nil
}
