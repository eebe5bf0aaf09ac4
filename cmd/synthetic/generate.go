package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/atomicfile"
	"synthetic/internal/config"
	"synthetic/internal/dashboard"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar"
)

// output is one file to be written.
type output struct {
	name string
	data []byte
}

// generateFlags are shared by the two generators.
type generateFlags struct {
	configFile, outputDir    string
	runbookURL, dashboardURL string
	replicas                 int
}

func addGenerate(app *kingpin.Application) command {
	f := &generateFlags{}
	c := app.Command("generate", "Write alert rules or dashboards from the SLOs and the traffic of a configuration.")
	what := c.Arg("what", "rules (a Prometheus rule file and a PrometheusRule resource) or dashboards (Grafana JSON).").Required().Enum("rules", "dashboards")
	c.Flag("config.file", "The configuration file.").Required().PlaceHolder("FILE").StringVar(&f.configFile)
	c.Flag("output.dir", "Directory to write to; it is made if need be.").Required().PlaceHolder("DIR").StringVar(&f.outputDir)
	c.Flag("runbook-url", "Address of the runbooks, put into the alerts; empty leaves the path within the repository.").PlaceHolder("URL").StringVar(&f.runbookURL)
	c.Flag("dashboard-url", "Address under which Grafana serves dashboards by UID (https://grafana.example.org/d), put into the alerts.").PlaceHolder("URL").StringVar(&f.dashboardURL)
	c.Flag("replicas", "How many sidecars run this configuration: their probe rates add up.").Default("1").IntVar(&f.replicas)
	return command{c, func(_ context.Context, e env) error { return f.run(e, *what) }}
}

func (f *generateFlags) run(e env, what string) error {
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
	build := f.rules
	if what == "dashboards" {
		build = dashboards
	}
	files, err := build(cfg)
	if err != nil {
		return usagef("%s: %w", f.configFile, err)
	}
	return writeAll(e, f.outputDir, files)
}

// rules returns the rule file and the resource that wraps it.
func (f *generateFlags) rules(cfg *config.Config) ([]output, error) {
	in := rules.Input{SLOs: cfg.SLOs, RunbookURL: f.runbookURL, DashboardURL: f.dashboardURL}
	for _, j := range cfg.Jobs {
		in.Jobs = append(in.Jobs, sidecar.RuleJob(j, f.replicas))
	}
	generated, err := rules.Generate(in)
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

func dashboards(cfg *config.Config) ([]output, error) {
	in := dashboard.Input{SLOs: cfg.SLOs}
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
