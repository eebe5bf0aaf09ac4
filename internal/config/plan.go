package config

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the head of the reference
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
	"synthetic/internal/yamlform"
)

// leastPlan is the remedy of a file that holds no plan at all.
const leastPlan = `write at least variants: [{base_url: "http://127.0.0.1:8000/v1"}] and levels: {concurrency: [1, 2]}`

//go:embed plan.txt
var planIntro string

// PlanDocumentation is what people read about plan files.
func PlanDocumentation() yamlform.Document {
	return yamlform.NewDocument[filePlan]("Plan of a synthetic sweep", planIntro, keyTexts, "variants[].tls", "workload")
}

// LoadPlan reads and validates a plan file, as Load does a configuration.
// presets are the simulated deployments that it may name.
func LoadPlan(path string, presets []string) (sweep.Plan, error) {
	data, err := yamlform.Read(path)
	if err != nil {
		return sweep.Plan{}, err
	}
	return ParsePlan(path, data, filepath.Dir(path), presets)
}

// ParsePlan validates the text of a plan, as Parse does a configuration's.
func ParsePlan(name string, data []byte, dir string, presets []string) (sweep.Plan, error) {
	var f filePlan
	form, err := yamlform.Decode(name, data, leastPlan, &f)
	if err != nil {
		return sweep.Plan{}, err
	}
	b := &planner{builder: &builder{Form: form, dir: dir}, presets: presets}
	plan := b.plan(f)
	if err := b.Err(); err != nil {
		return sweep.Plan{}, err
	}
	text, ok := b.Redact(data, "(not kept)", "headers", "extra_body")
	if !ok {
		text = "(not kept: the plan has headers or extra_body fields of several lines)\n"
	}
	plan.Title = cmp.Or(plan.Title, strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	plan.Source = runfile.Plan{File: filepath.Base(name), Text: text, SHA256: fmt.Sprintf("%x", sha256.Sum256(data))}
	return plan, nil
}

// planner turns a decoded plan file into a sweep.Plan.
type planner struct {
	*builder
	presets []string
}

func (b *planner) plan(f filePlan) sweep.Plan {
	w := b.workload("workload", f.Workload)
	p := sweep.Plan{
		Title: f.Title, Seed: f.Seed, Variants: b.variants(f.Variants), Workload: w.Spec, User: w.user,
		Repetitions: f.Repetitions, Order: sweep.Interleaved, Pause: f.Pause, Cache: b.cache(f.Cache),
		ReadyTimeout: f.ReadyTimeout, Confidence: float64(f.Confidence), EarlyStop: f.EarlyStop,
		Deployment: b.lines("deployment", f.Deployment),
	}
	if f.Order == string(sweep.Blocks) {
		p.Order = sweep.Blocks
	}
	b.levels(f.Levels, &p)
	p.Measure = b.measure(f.Measure)
	p.WarmUp = b.warmUp(f.WarmUp, p.Measure)
	p.SLOs = b.planSLOs(f.SLOs, p)
	return p
}

// planSLOs resolves the objectives and checks them against what the variants
// will be asked.
func (b *planner) planSLOs(in []filePlanSLO, p sweep.Plan) []slo.Objective {
	var jobs []probe.Job
	for _, v := range p.Variants {
		jobs = append(jobs, probe.Job{Target: v.Target, Workload: p.Workload})
	}
	b.known = b.Fine("variants", "workload")
	full := make([]fileSLO, len(in))
	for i, s := range in {
		full[i] = fileSLO{Name: s.Name, SLI: s.SLI, Threshold: s.Threshold, Objective: s.Objective, Turns: s.Turns}
	}
	return b.slos(full, jobs)
}

// variants resolves the variants, and names those that have no name.
func (b *planner) variants(in []fileVariant) []sweep.Variant {
	taken := map[string]string{}
	out := make([]sweep.Variant, len(in))
	for i, v := range in {
		path := yamlform.Index("variants", i)
		out[i] = b.variant(path, v)
		b.Name(path, out[i].Name, "variant", taken)
	}
	return out
}

func (b *planner) variant(path string, f fileVariant) sweep.Variant {
	url, preset := f.BaseURL.resolve()
	if preset != "" && !slices.Contains(b.presets, preset) {
		b.Mistake(path+".base_url", string(f.BaseURL), "is not a preset of this synthetic", yamlform.Suggest(preset, b.presets, "presets"))
	}
	f.fileEndpoint.BaseURL = url
	v := sweep.Variant{
		Name: cmp.Or(f.Name, preset, url.name()), Preset: preset,
		Target: b.endpoint(path, f.fileEndpoint), Metrics: f.MetricsURLs, Switch: f.Switch,
		Deployment: b.lines(path+".deployment", f.Deployment),
	}
	v.Target.Name, v.Target.Connection = v.Name, f.Connection
	v.Target.Extra = b.extraBody(path+".extra_body", f.ExtraBody)
	if at := path + ".metrics_urls"; b.Has(at) {
		b.metrics(at, f.MetricsURLs)
	} else {
		v.Metrics = url.metrics()
	}
	if at := path + ".switch"; b.Has(at) && len(f.Switch.Command) == 0 && b.Fine(at) {
		b.Mistake(at, "", "has no command", "write command: [PROGRAM, ARGUMENT], or remove switch")
	}
	return v
}

// metrics checks the addresses of a deployment's own metrics.
func (b *planner) metrics(path string, urls []string) {
	for i, text := range urls {
		at := yamlform.Index(path, i)
		u, err := url.Parse(text)
		switch {
		case !b.Fine(at):
		case strings.Contains(text, "@"):
			b.Mistake(at, "", "contains user information (not shown)", "leave out what stands before the @")
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			b.Mistake(at, text, "is not an http address", "write for example http://127.0.0.1:8000/metrics")
		}
	}
}

// lines turns a mapping into lines of the deployment table, in the order of
// the file.
func (b *planner) lines(path string, in map[string]string) []runfile.Parameter {
	var out []runfile.Parameter
	for _, name := range b.Keys(path) {
		out = append(out, runfile.Parameter{Name: name, Value: in[name], Source: "plan"})
	}
	return out
}
