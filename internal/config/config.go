// Package config reads the configuration of the sidecar and the plan of a sweep into validated values
// of the packages that use them.
//
// Package yamlform fills the tagged structs of file.go. A function for each section then checks keys
// against each other, and resolves names, paths and defaults. Both go on after a mistake, so that one
// run reports every mistake. keys.txt has the text of each key for the documentation.
package config

import (
	_ "embed" // the texts of the documentation
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/fleet"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// Config is a validated configuration. Its lists have the order of the file.
type Config struct {
	fleet.Fleet
	Changes []fleet.Change
	// Location is the time zone of the file; nil means UTC. Each job has its own.
	Location *time.Location
	// Absent sections are nil.
	Alerting *Alerting
	Tracing  *Tracing
	// Notes are what the user should know of the files that were read.
	Notes []string
}

// exampleTargets is the smallest configuration, for remedies.
const exampleTargets = `targets: [{base_url: "http://127.0.0.1:8000/v1"}]`

// Load reads and validates a configuration file. Paths in it are relative to its directory. The error
// is of type yamlform.Errors.
func Load(path string) (*Config, error) { return load(path, nil) }

// LoadToRun is Load for a process that sends requests. An API key's environment variable that is not
// set is then a mistake: every turn would fail, and page as an outage of its target.
func LoadToRun(path string) (*Config, error) { return load(path, os.Getenv) }

func load(path string, getenv func(string) string) (*Config, error) {
	data, err := yamlform.Read(path)
	if err == nil {
		err = otherKind(path, data, false)
	}
	if err != nil {
		return nil, err
	}
	return parse(path, data, filepath.Dir(path), getenv)
}

// Parse is Load for a text. name replaces the file name in messages, and paths are relative to dir.
func Parse(name string, data []byte, dir string) (*Config, error) {
	return parse(name, data, dir, nil)
}

func parse(name string, data []byte, dir string, getenv func(string) string) (*Config, error) {
	var f file
	form, err := yamlform.Decode(name, data, "write at least "+exampleTargets, &f)
	if err != nil {
		return nil, err
	}
	r := &reader{
		Form: form, dir: dir, getenv: getenv, location: f.Timezone.Location, usedNames: map[string]string{}, models: map[string][]target.Target{},
		targets:   names{kind: "target", at: map[string][]int{}, valid: !form.Wrong("targets") && !form.Wrong("discovery")},
		workloads: names{kind: "workload", at: map[string][]int{}, valid: !form.Wrong("workloads")},
	}
	cfg := build(r, f)
	cfg.Notes = r.notes
	if err := r.Err(); err != nil {
		return nil, err
	}
	return cfg, nil
}

// planKeys and configurationKeys are keys at the top of one kind of file that the other kind has not.
var (
	planKeys          = regexp.MustCompile(`(?m)^(variants|levels|measure|warm_up)\s*:`)
	configurationKeys = regexp.MustCompile(`(?m)^(targets|traffic|workloads|discovery|alerting)\s*:`)
)

// IsPlan reports whether a text is the plan of a sweep and no configuration.
func IsPlan(text []byte) bool { return planKeys.Match(text) && !configurationKeys.Match(text) }

// otherKind returns an error for a file of the other kind, whose keys would all be unknown.
func otherKind(path string, text []byte, wantPlan bool) error {
	m := yamlform.Mistake{Message: "is a plan of a sweep, not a configuration", Remedy: "run it with synthetic sweep --plan.file=" + path}
	if wantPlan {
		m = yamlform.Mistake{Message: "is a configuration, not a plan of a sweep", Remedy: "run it with synthetic run --config.file=" + path}
	}
	if isConfiguration := configurationKeys.Match(text) && !planKeys.Match(text); wantPlan && isConfiguration || !wantPlan && IsPlan(text) {
		return yamlform.Errors{{File: path, Mistake: m}}
	}
	return nil
}

//go:embed keys.txt
var keyTexts string

//go:embed configuration.txt
var configurationIntro string

// Documentation documents configuration files.
func Documentation() yamlform.Document {
	return yamlform.NewDocument[file]("Configuration of synthetic", configurationIntro, keyTexts, kinds(), "discovery[].target")
}

// reader turns a decoded file into values. It does not check keys that already have a mistake.
type reader struct {
	*yamlform.Form
	dir string
	// getenv reads environment variables; nil does not check them.
	getenv func(string) string
	// location is the time zone of the file; nil means UTC.
	location *time.Location
	// targets are the names of targets and groups, known what else the file says of each of them. usedNames holds the
	// path of each name.
	targets, workloads names
	known              []known
	usedNames          map[string]string
	models             map[string][]target.Target // by target
	// jobsResolved is true if every name of a target or workload in the traffic was valid.
	jobsResolved bool
	notes        []string
}

// known is what the file says of a target or group beside the target itself.
type known struct {
	path     string
	location *time.Location // nil means UTC
	hours    workload.Hours
}

const (
	// maxCovered bounds the pairs of a job and an SLO, and those of a job and a change.
	maxCovered = 100_000
	// smaller is the remedy for a configuration that is too large.
	smaller = "run several processes, each with a part of the targets (docs/how-to/run-shards.md)"
)

// checkCovered rejects SLOs or changes that cover too many jobs together.
func checkCovered(r *reader, at string, pairs int) {
	if pairs > maxCovered {
		r.Mistake(at, "", fmt.Sprintf("cover %d jobs together, more than %d", pairs, maxCovered), "name fewer targets in each, or "+smaller)
	}
}

func build(r *reader, f file) *Config {
	if !r.Has("targets") && !r.Has("discovery") {
		r.Mistake("targets", "", "is missing", "write for example "+exampleTargets+", or discovery")
		r.targets.valid = false
	}
	targets, workloads := readTargets(r, f.Targets), readWorkloads(r, f.Workloads)
	groups := readGroups(r, f.Discovery)
	for _, g := range groups {
		targets = append(targets, g.Template)
	}
	if !r.Has("traffic") {
		f.Traffic = defaultTraffic(workloads)
	}
	jobs := readTraffic(r, f.Traffic, targets, workloads)
	if r.jobsResolved {
		rejectUnused(r, targets, workloads, jobs)
	}
	c := &Config{
		Fleet: fleet.Fleet{
			Targets: targets, Groups: groups, Jobs: jobs,
			ServerMetrics: readServerMetrics(r, f.Targets, targets), SLOs: readSLOs(r, f.SLOs, jobs),
		},
		Changes: readChanges(r, f.Changes, jobs), Location: r.location,
		Alerting: readAlerting(r, f.Alerting), Tracing: readTracing(r, f.Tracing),
	}
	policy := f.Regression
	policy.TicketRatio = min(policy.PageRatio, fleet.DefaultPolicy().TicketRatio)
	for i := range jobs {
		jobs[i].Policy = policy
	}
	c.Fleet = c.With(r.models)
	return c
}

// resolve makes a path relative to the file's directory.
func (r *reader) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}

// directory resolves the path of a directory, which need not exist.
func (r *reader) directory(at, path string) string {
	dir := r.resolve(path)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() && r.Valid(at) {
		r.Mistake(at, path, "is not a directory", "name a directory, or a path where one can be created")
	}
	return dir
}

// file resolves the path of a file, which must be readable. A mistake names it as shown, or not at all if shown is "".
func (r *reader) file(at, path, shown string) string {
	if !r.Valid(at) {
		return path
	}
	full := r.resolve(path)
	if err := readable(full); err != nil {
		r.Mistake(at, shown, "cannot be read ("+yamlform.ReasonOf(err)+")", "name a readable file, relative to the configuration file")
	}
	return full
}

// readable returns the reason why a file cannot be opened for reading.
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
