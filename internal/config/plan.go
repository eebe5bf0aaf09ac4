package config

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the frame of the reference
	"encoding/hex"
	"path/filepath"
	"reflect"
	"strings"

	"synthetic/internal/load"
	"synthetic/internal/probe/target"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
)

// leastPlan is the remedy of a file that holds no plan at all.
const leastPlan = `write at least variants: [{base_url: "http://127.0.0.1:8000/v1"}] and levels: {concurrency: [1, 2]}`

//go:embed plan.md.tmpl
var planText string

// LoadPlan reads and validates a plan file, as Load does a configuration.
// presets are the simulated deployments that it may name.
func LoadPlan(path string, presets []string) (sweep.Plan, error) {
	data, err := readLimited(path)
	if err != nil {
		return sweep.Plan{}, Errors{{File: path, Message: "cannot be read (" + reasonOf(err) + ")", Remedy: "name a readable YAML file"}}
	}
	return ParsePlan(path, data, filepath.Dir(path), presets)
}

// ParsePlan validates the text of a plan, as Parse does a configuration's.
func ParsePlan(name string, data []byte, dir string, presets []string) (sweep.Plan, error) {
	var f filePlan
	d, problems := decode(name, data, leastPlan, &f)
	if problems != nil {
		return sweep.Plan{}, problems
	}
	b := &planner{builder: &builder{decoder: d, dir: dir}, presets: presets}
	plan := b.plan(f)
	if len(d.problems) > 0 {
		return sweep.Plan{}, d.problems.sorted()
	}
	plan.Title = cmp.Or(plan.Title, strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	sum := sha256.Sum256(data)
	plan.Source = runfile.Plan{File: filepath.Base(name), Text: b.redacted(data), SHA256: hex.EncodeToString(sum[:])}
	return plan, nil
}

// PlanReference returns the documentation of every key of a plan as Markdown.
func PlanReference() []byte {
	return referenceOf(planText, reflect.TypeFor[filePlan](), "variants[].tls", "workload")
}

// PlanSchema returns the JSON Schema of a plan file.
func PlanSchema() []byte { return schemaOf(reflect.TypeFor[filePlan](), "Plan of a synthetic sweep") }

// planner turns a decoded plan file into a sweep.Plan.
type planner struct {
	*builder
	presets []string
}

func (b *planner) plan(f filePlan) sweep.Plan {
	w := b.workload("workload", f.Workload)
	w.path = "workload"
	p := sweep.Plan{
		Title: f.Title, Seed: f.Seed, Variants: b.variants(f.Variants), Workload: w.Spec, User: w.user,
		Repetitions: f.Repetitions, Order: sweep.Interleaved, Pause: dur(f.Pause), Cache: b.cache(f.Cache),
		ReadyTimeout: dur(f.ReadyTimeout), Confidence: float64(f.Confidence), EarlyStop: f.EarlyStop,
		Deployment: b.lines("deployment", f.Deployment),
	}
	if f.Order == string(sweep.Blocks) {
		p.Order = sweep.Blocks
	}
	b.levels(f.Levels, &p)
	p.Measure = b.measure(f.Measure)
	p.WarmUp = b.warmUp(f.WarmUp, p.Measure)
	p.SLOs = b.planSLOs(f.SLOs, p, w)
	return p
}

// planSLOs resolves the objectives and checks them against what the variants
// will be asked.
func (b *planner) planSLOs(in []filePlanSLO, p sweep.Plan, w conversation) []slo.Objective {
	var targets []target.Target
	var jobs []load.Job
	for _, v := range p.Variants {
		targets = append(targets, v.Target)
		jobs = append(jobs, load.Job{Target: v.Target, Workload: w.Spec})
	}
	b.known = b.fine("variants", "workload")
	full := make([]fileSLO, len(in))
	for i, s := range in {
		full[i] = fileSLO{Name: s.Name, SLI: s.SLI, Threshold: s.Threshold, Objective: s.Objective, Turns: s.Turns}
	}
	return b.slos(full, targets, []conversation{w}, jobs)
}
