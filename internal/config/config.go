// Package config reads the configuration of the sidecar and the plan of a sweep into validated values
// of the packages that use them.
//
// Package yamlform fills the tagged structs of file.go. A builder then checks keys
// against each other, and resolves names, paths and defaults. Both go on after a mistake, so that one
// run reports every mistake. keys.txt has the text of each key for the documentation.
package config

import (
	_ "embed" // the texts of the documentation
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
)

// Config is a validated configuration. Its lists have the order of the file.
type Config struct {
	fleet.Fleet
	Changes []Change
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
	if err != nil {
		return nil, err
	}
	if err := otherKind(path, data, false); err != nil {
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
	b := &builder{
		Form: form, dir: dir, getenv: getenv,
		location: f.Timezone.Location, locations: map[string]*time.Location{}, hours: map[string]workload.Hours{},
		footprints: map[probe.Key]workload.Footprint{}, usedNames: map[string]string{}, models: map[string][]target.Target{},
		targetNames: names{kind: "target", at: map[string][]int{}}, workloadNames: names{kind: "workload", at: map[string][]int{}},
	}
	cfg := b.build(f)
	cfg.Notes = b.notes
	if err := b.Err(); err != nil {
		return nil, err
	}
	return cfg, nil
}

//go:embed keys.txt
var keyTexts string

//go:embed configuration.txt
var configurationIntro string

// Documentation documents configuration files.
func Documentation() yamlform.Document {
	return yamlform.NewDocument[file]("Configuration of synthetic", configurationIntro, keyTexts, "discovery[].target")
}

// builder turns a decoded file into a Config. It does not check keys that already have a mistake.
type builder struct {
	*yamlform.Form
	dir string
	// getenv reads environment variables; nil does not check them.
	getenv func(string) string
	// jobsResolved is true if every name of a target or workload in the traffic was valid.
	jobsResolved bool
	models       map[string][]target.Target // by target
	footprints   map[probe.Key]workload.Footprint
	// locations holds the time zone of each target or group; nil means UTC. location is the file's.
	locations map[string]*time.Location
	hours     map[string]workload.Hours
	location  *time.Location
	// targetNames are the names of targets and groups; targetPaths holds the path of each of them,
	// usedNames the path of each name.
	targetNames, workloadNames names
	targetPaths                []string
	usedNames                  map[string]string
	// objectives holds the SLOs of each job.
	objectives [][]slo.Objective
	notes      []string
}

const (
	// maxCovered bounds the pairs of a job and an SLO, and those of a job and a change.
	maxCovered = 100_000
	// smaller is the remedy for a configuration that is too large.
	smaller = "run several processes, each with a part of the targets (docs/how-to/run-shards.md)"
)

// checkCovered rejects SLOs or changes that cover too many jobs together.
func (b *builder) checkCovered(at string, pairs int) {
	if pairs > maxCovered {
		b.Mistake(at, "", fmt.Sprintf("cover %d jobs together, more than %d", pairs, maxCovered), "name fewer targets in each, or "+smaller)
	}
}

func (b *builder) build(f file) *Config {
	if !b.Has("targets") && !b.Has("discovery") {
		b.Mistake("targets", "", "is missing", "write for example "+exampleTargets+", or discovery")
	}
	targets, workloads := b.targets(f.Targets), b.workloads(f.Workloads)
	groups := b.groups(f.Discovery)
	for _, g := range groups {
		targets = append(targets, g.Template)
	}
	if !b.Has("traffic") {
		f.Traffic = defaultTraffic(workloads)
	}
	jobs := b.traffic(f.Traffic, targets, workloads)
	b.jobsResolved = b.namesValid("targets", len(targets)) && b.namesValid("discovery", len(groups)) && b.namesValid("workloads", len(workloads)) &&
		b.itemsValid("traffic", len(f.Traffic), func(at string) bool { return b.Valid(at+".targets", at+".workload") })
	if b.jobsResolved {
		b.rejectUnused(targets, workloads, jobs)
	}
	c := &Config{
		Fleet: fleet.Fleet{
			Targets: targets, Groups: groups, ServerMetrics: b.serverMetrics(f.Targets, targets), SLOs: b.slos(f.SLOs, jobs),
		},
		Changes: b.changes(f.Changes), Location: b.location,
		Alerting: b.alerting(f.Alerting), Tracing: b.tracing(f.Tracing),
	}
	policy := b.policy(f.Regression)
	if b.Err() == nil { // otherwise nobody reads the jobs
		c.Jobs = b.jobs(c, jobs, policy)
	}
	c.Fleet = c.With(b.models)
	return c
}

// jobs adds to each job how its turns are judged.
func (b *builder) jobs(c *Config, jobs []probe.Job, policy fleet.Policy) []fleet.Job {
	watched := map[string]bool{}
	for _, w := range c.ServerMetrics {
		watched[w.Target.Name] = true
	}
	out := make([]fleet.Job, len(jobs))
	for i, j := range jobs {
		out[i] = fleet.Job{
			Job: j, Policy: policy, Objectives: b.objectives[i],
			Footprint: b.footprints[j.Key()], ServerMetrics: watched[j.Target.Name],
			Location: b.locations[j.Target.Name],
		}
	}
	changes := 0
	for _, ch := range c.Changes {
		for _, i := range coveredJobs(jobs, ch.Targets, nil) {
			if changes++; changes <= maxCovered {
				ch.Location = out[i].Location
				out[i].Changes = append(out[i].Changes, ch.Change)
			}
		}
	}
	b.checkCovered("changes", changes)
	return out
}

// resolve makes a path relative to the file's directory.
func (b *builder) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(b.dir, path)
}

// directory resolves the path of a directory, which need not exist.
func (b *builder) directory(at, path string) string {
	dir := b.resolve(path)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() && b.Valid(at) {
		b.Mistake(at, path, "is not a directory", "name a directory, or a path where one can be created")
	}
	return dir
}

// file resolves the path of a file, which must be readable.
func (b *builder) file(at, path string, secret bool) string {
	if path == "" || !b.Valid(at) {
		return path
	}
	full := b.resolve(path)
	if err := readable(full); err != nil {
		if secret && !strings.Contains(path, "/") {
			path = "" // it may be the key itself
		}
		b.Mistake(at, path, "cannot be read ("+yamlform.ReasonOf(err)+")", "name a readable file, relative to the configuration file")
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
