// Package config reads the two YAML files that people write, the configuration
// of the sidecar and the plan of a sweep, into validated values of the packages
// that use them. Nothing below it imports it.
//
// Package yamlform fills the tagged structs of file.go and plan_file.go. The
// builder checks what concerns several keys at once and resolves names, paths and
// defaults into plain values. Both collect mistakes and go on, so that one run
// reports them all. keys.txt has the text of each key for the documentation.
package config

import (
	_ "embed" // the texts of the documentation
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/discovery"

	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// Config is a validated configuration.
type Config struct {
	// Targets in the order of the file.
	Targets []target.Target
	// Models are the targets of which several models are probed; see Expand.
	Models []discovery.ModelSet
	// Discovery are the groups of targets that are discovered or leased; the template
	// of each is among Targets.
	Discovery []discovery.Group
	// ServerMetrics are the targets whose own metrics are to be read.
	ServerMetrics []serverside.Watched
	// Jobs are the traffic entries resolved: targets × workload, each with what
	// its turns are judged by.
	Jobs []sink.Job
	// SLOs in the order of the file.
	SLOs []slo.Objective
	// Metrics says how much of the catalog /metrics has: native, classic or both.
	Metrics string
	// Changes are the declared change windows in the order of the file.
	Changes []Change
	// Answers is what alerts on answers are; Canary is nil where nothing is
	// compared.
	Answers slo.Severity
	Canary  *Canary
	// Alerting is nil if the process does not page by itself.
	Alerting *Alerting
	// Tracing is nil if no spans are exported.
	Tracing *Tracing
	// Prometheus has the series of earlier processes; nil if none is named.
	Prometheus *Prometheus
}

// leastFile is the remedy of a file that holds no configuration at all.
const leastFile = `write at least targets: [{base_url: "http://127.0.0.1:8000/v1"}]`

// Load reads and validates a configuration file. Paths in it are relative to
// its directory. An error is of type yamlform.Errors and holds every mistake.
func Load(path string) (*Config, error) { return load(path, nil) }

// LoadToRun is Load for a process that sends: an environment variable that is to
// hold a key and is not set is a mistake, too. Each turn would fail, and page as an
// outage of its target.
func LoadToRun(path string) (*Config, error) { return load(path, os.Getenv) }

func load(path string, getenv func(string) string) (*Config, error) {
	data, err := yamlform.Read(path)
	if err != nil {
		return nil, err
	}
	return parse(path, data, filepath.Dir(path), getenv)
}

// Parse validates the text of a configuration. name stands for it in messages,
// dir is what paths in it are relative to. Errors are as of Load. The files that
// the text names must exist; those of keys are not read.
func Parse(name string, data []byte, dir string) (*Config, error) {
	return parse(name, data, dir, nil)
}

func parse(name string, data []byte, dir string, getenv func(string) string) (*Config, error) {
	var f file
	form, err := yamlform.Decode(name, data, leastFile, &f)
	if err != nil {
		return nil, err
	}
	b := &builder{
		Form: form, dir: dir, getenv: getenv, benchmarks: map[probe.Key]*sink.Benchmark{},
		footprints: map[probe.Key]workload.Footprint{}, prices: map[string]*workload.Price{}, taken: map[string]string{},
	}
	cfg := b.build(f)
	if err := b.Err(); err != nil {
		return nil, err
	}
	return cfg, nil
}

//go:embed keys.txt
var keyTexts string

//go:embed configuration.txt
var configurationIntro string

// Documentation is what people read about configuration files.
func Documentation() yamlform.Document {
	return yamlform.NewDocument[file]("Configuration of synthetic", configurationIntro, keyTexts, "discovery[].target")
}

// builder turns a decoded file into a Config. It leaves alone keys that were
// found wrong.
type builder struct {
	*yamlform.Form
	dir string
	// getenv reads the environment that the file is for; nil does not ask.
	getenv func(string) string
	// known says that the jobs are all there: nothing that selects targets and
	// workloads was wrong.
	known bool
	// sets are the targets of which several models are probed.
	sets []discovery.ModelSet
	// benchmarks are the levels that jobs are compared with.
	benchmarks map[probe.Key]*sink.Benchmark
	// footprints are what jobs are expected to spend, prices what the tokens of
	// a target cost.
	footprints map[probe.Key]workload.Footprint
	prices     map[string]*workload.Price
	// targetNames and workloadNames are those that a selection may name; targetPaths
	// are the places of the targets, and taken the places of their names.
	targetNames, targetPaths, workloadNames []string
	taken                                   map[string]string
}

func (b *builder) build(f file) *Config {
	targets, workloads := b.targets(f.Targets), b.workloads(f.Workloads)
	groups := b.groups(f.Discovery)
	for _, g := range groups {
		targets = append(targets, g.Template)
	}
	b.requireSource()
	if !b.Has("traffic") {
		f.Traffic = defaultTraffic(workloads)
	}
	jobs := b.traffic(f.Traffic, targets, workloads)
	b.known = b.namesValid("targets", len(targets)) && b.namesValid("discovery", len(groups)) && b.namesValid("workloads", len(workloads)) &&
		b.itemsValid("traffic", len(f.Traffic), func(at string) bool { return b.Valid(at+".targets", at+".workload") })
	if b.known {
		b.idle(targets, workloads, jobs)
	}
	c := &Config{
		Targets: targets, Models: b.sets, Discovery: groups, ServerMetrics: b.serverMetrics(f.Targets, targets), SLOs: b.slos(f.SLOs, jobs),
		Changes: b.changes(f.Changes), Alerting: b.alerting(f.Alerting), Tracing: b.tracing(f.Tracing), Prometheus: b.state(f.State.Prometheus),
	}
	c.Metrics = f.Metrics
	c.Answers, c.Canary = b.answers(f.Answers, targets)
	policy := b.policy(f.Regression, len(jobs))
	for _, j := range jobs {
		c.Jobs = append(c.Jobs, b.judged(c, j, policy))
	}
	return c
}

// judged adds to a job what its turns are judged by.
func (b *builder) judged(c *Config, j probe.Job, policy sink.Policy) sink.Job {
	out := sink.Job{
		Job: j, Benchmark: b.benchmarks[j.Key()], Policy: policy,
		Footprint: b.footprints[j.Key()], Price: b.prices[j.Target.Name],
	}
	for _, ch := range c.Changes {
		if ch.Targets == nil || slices.Contains(ch.Targets, j.Target.Name) {
			out.Changes = append(out.Changes, ch.Change)
		}
	}
	for _, o := range c.SLOs {
		if o.CoversJob(j.Target.Name, j.Workload.Name) {
			out.Objectives = append(out.Objectives, o)
		}
	}
	for _, m := range c.ServerMetrics {
		out.ServerMetrics = out.ServerMetrics || m.Target.Name == j.Target.Name
	}
	return out
}

// resolve makes a path relative to the file's directory.
func (b *builder) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(b.dir, path)
}

// directory resolves the path of one that may be made later.
func (b *builder) directory(at, written string) string {
	dir := b.resolve(written)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() && b.Valid(at) {
		b.Mistake(at, written, "is not a directory", "name a directory, or a path where one can be made")
	}
	return dir
}

// file resolves the path of a file that must be there and readable. It reads
// nothing of it.
func (b *builder) file(at, path string, secret bool) string {
	if path == "" || !b.Valid(at) {
		return path
	}
	full := b.resolve(path)
	if err := readable(full); err != nil {
		if secret && !strings.Contains(path, "/") {
			path = "" // perhaps the key itself was written here
		}
		b.Mistake(at, path, "cannot be read ("+yamlform.ReasonOf(err)+")", "name a readable file, relative to the configuration file")
	}
	return full
}

// readable reports why a file cannot be opened for reading.
func readable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}
