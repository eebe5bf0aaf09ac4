package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/atomicfile"
	"synthetic/internal/config"
	"synthetic/internal/dashboard"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/metrics"
)

// output is a file to write.
type output struct {
	name string
	data []byte
}

// generateFlags are the flags of the generators that read a configuration.
type generateFlags struct {
	configFile, outputDir    string
	runbookURL, dashboardURL string
	keepLabels, uidPrefix    string
}

func addGenerate(app *kingpin.Application) []command {
	g := app.Command("generate", "Write alert rules and dashboards for a configuration.")
	return []command{
		fromConfig(g, "rules", `Write the alert rules of a configuration, as a Prometheus rule file and as a
PrometheusRule of Kubernetes. Example:
  synthetic generate rules --config.file=synthetic.yml --output.dir=alerts`, (*generateFlags).rules),
		fromConfig(g, "dashboards", "Write the dashboards of a configuration, as JSON for Grafana.", (*generateFlags).dashboards),
		docsCommand(g),
	}
}

// fromConfig adds a generator that reads a configuration.
func fromConfig(parent *kingpin.CmdClause, name, help string, build func(*generateFlags, *config.Config) ([]output, error)) command {
	f := &generateFlags{}
	c := parent.Command(name, help)
	c.Flag("config.file", "The configuration file.").Required().PlaceHolder("FILE").StringVar(&f.configFile)
	c.Flag("output.dir", "Directory to write to; it is created if it does not exist.").Required().PlaceHolder("DIR").StringVar(&f.outputDir)
	c.Flag("runbook-url", "Address of the directory of runbooks. Alerts link to them; without the flag they have no link.").PlaceHolder("URL").StringVar(&f.runbookURL)
	c.Flag("keep-labels", "Labels that Prometheus adds to each prober and that tell installations apart, separated by commas, such as cluster,namespace. Each value has alerts of its own; dashboards have a variable for each label.").PlaceHolder("NAMES").StringVar(&f.keepLabels)
	if name == "rules" {
		c.Flag("dashboard-url", "Address under which Grafana serves dashboards by UID, such as https://grafana.example.org/d. Alerts link to them; without the flag they have no link.").PlaceHolder("URL").StringVar(&f.dashboardURL)
	} else {
		c.Flag("uid-prefix", "Text such as staging- before the identifiers (UIDs) of the dashboards, so that two installations fit into one Grafana. Then write --dashboard-url of the rules with it: https://grafana.example.org/d/staging-").PlaceHolder("TEXT").StringVar(&f.uidPrefix)
	}
	return command{c, func(_ context.Context, e env) error { return f.run(e, build) }}
}

// docsCommand adds the command that writes the generated files of docs/.
func docsCommand(parent *kingpin.CmdClause) command {
	c := parent.Command("docs", "Write the references of keys and metrics, and the JSON Schemas of files.").Hidden()
	dir := c.Arg("dir", "The directory docs of the source code.").Required().String()
	return command{c, func(_ context.Context, e env) error {
		text, err := metrics.Document()
		if err != nil {
			return err
		}
		file, plan := config.Documentation(), config.PlanDocumentation()
		return writeAll(e, *dir, []output{
			{"synthetic.schema.json", file.Schema()}, {"plan.schema.json", plan.Schema()},
			{"reference/configuration.md", file.Reference()}, {"reference/plan.md", plan.Reference()}, {"reference/metrics.md", text},
		})
	}}
}

func (f *generateFlags) run(e env, build func(*generateFlags, *config.Config) ([]output, error)) error {
	for _, a := range []struct{ name, value string }{{"runbook-url", f.runbookURL}, {"dashboard-url", f.dashboardURL}} {
		u, err := url.Parse(a.value)
		if a.value != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			return usagef("--%s=%s is no http(s) address; alerts link to it, so write for example https://grafana.example.org/d", a.name, a.value)
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

// rules returns the rule file and the resource that wraps it.
func (f *generateFlags) rules(cfg *config.Config) ([]output, error) {
	in := sidecar.RulesOf(cfg.ForRules())
	in.RunbookURL, in.DashboardURL = f.runbookURL, f.dashboardURL
	in.KeepLabels = f.kept()
	generated, err := rules.Generate(in)
	if err != nil {
		return nil, err
	}
	plain, err := generated.PrometheusYAML()
	if err != nil {
		return nil, err
	}
	resource, err := generated.Resource()
	if err != nil {
		return nil, err
	}
	return []output{{"synthetic-rules.yml", plain}, {"prometheusrule.yaml", resource}}, nil
}

func (f *generateFlags) kept() []string {
	return strings.FieldsFunc(f.keepLabels, func(r rune) bool { return r == ',' })
}

func (f *generateFlags) dashboards(cfg *config.Config) ([]output, error) {
	in := dashboard.Input{SLOs: cfg.SLOs, RunbookURL: f.runbookURL, KeepLabels: f.kept(), UIDPrefix: f.uidPrefix}
	if err := rules.CheckLabels(in.KeepLabels); err != nil {
		return nil, err
	}
	if !regexp.MustCompile(`^([a-zA-Z0-9_-]{0,19}-)?$`).MatchString(f.uidPrefix) {
		return nil, fmt.Errorf("--uid-prefix=%s: write at most 20 letters, digits, - and _ that end with -, such as staging-", f.uidPrefix)
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

// writeAll writes the files into dir. A file gets its name only when it is complete.
func writeAll(e env, dir string, files []output) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("creating the output directory: %w; choose another --output.dir", err)
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
