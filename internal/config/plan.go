package config

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the intro of the reference
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
	"synthetic/internal/slo"
)

//go:embed plan.txt
var planIntro string

// PlanDocumentation documents plan files.
func PlanDocumentation() yamlform.Document {
	return yamlform.NewDocument[filePlan]("Plan of a synthetic sweep", planIntro, keyTexts, kinds(), "workload")
}

// LoadPlan reads and validates a plan file, as Load does a configuration. presets are the known
// simulated deployments.
func LoadPlan(path string, presets []string) (fleet.Plan, error) {
	data, err := yamlform.Read(path)
	if err == nil {
		err = otherKind(path, data, true)
	}
	if err != nil {
		return fleet.Plan{}, err
	}
	return ParsePlan(path, data, presets)
}

// ParsePlan is LoadPlan for a text. Files that it names are relative to the directory of path.
func ParsePlan(path string, data []byte, presets []string) (fleet.Plan, error) {
	const example = `write at least variants: [{base_url: "http://127.0.0.1:8000/v1"}] and levels: {concurrency: [1, 2]}`
	var f filePlan
	form, err := yamlform.Decode(path, data, example, &f)
	if err != nil {
		return fleet.Plan{}, err
	}
	r := &reader{Form: form, dir: filepath.Dir(path)}
	plan := readPlan(r, f, presets)
	plan.Notes = r.notes
	if err := r.Err(); err != nil {
		return fleet.Plan{}, err
	}
	file := filepath.Base(path)
	plan.Source = fleet.PlanFile{
		File: file, Text: r.Redact("(not kept)", "headers", "extra_body", "http_client"), SHA256: fmt.Sprintf("%x", sha256.Sum256(data)),
	}
	return plan, nil
}

// confidence of verdicts: the customary 95 %.
const confidence = 0.95

func readPlan(r *reader, f filePlan, presets []string) fleet.Plan {
	w := readWorkload(r, "workload", f.Workload)
	p := f.Plan
	p.Deployment, p.Variants, p.Workload = readLines(r, "deployment", f.Deployment), readVariants(r, f.Variants, presets), w.Spec
	p.Order, p.Cache, p.Confidence = fleet.Interleaved, readCache(r, f.Cache, w.Spec), confidence
	if f.Order == string(fleet.Blocks) {
		p.Order = fleet.Blocks
	}
	readLevels(r, f.Levels, &p)
	p.Measure = readMeasure(r, f.Measure)
	p.WarmUp = readWarmUp(r, f.WarmUp, p.Measure)
	p.SLOs = readPlanSLOs(r, f.SLOs, p)
	return p
}

// readPlanSLOs resolves the SLOs and checks them against the turns of the variants.
func readPlanSLOs(r *reader, in []fileObjective, p fleet.Plan) []slo.Objective {
	var jobs []fleet.Job
	for _, v := range p.Variants {
		jobs = append(jobs, fleet.Job{Job: probe.Job{Target: v.Target, Workload: p.Workload}})
		checkSupport(r, "variants", v.Target, p.Workload)
	}
	r.jobsResolved = r.Valid("variants", "workload")
	full := make([]fileSLO, len(in))
	for i, s := range in {
		full[i].fileObjective = s
	}
	return readSLOs(r, full, jobs)
}

func readVariants(r *reader, in []fileVariant, presets []string) []fleet.Variant {
	used := map[string]string{}
	out := make([]fleet.Variant, len(in))
	for i, v := range in {
		path := yamlform.Index("variants", i)
		out[i] = readVariant(r, path, v, presets)
		r.Name(path, out[i].Name, "variant", used)
	}
	return out
}

func readVariant(r *reader, path string, f fileVariant, presets []string) fleet.Variant {
	url, preset := f.BaseURL.resolve()
	if preset != "" && !slices.Contains(presets, preset) {
		r.Mistake(path+".base_url", string(f.BaseURL), "is not a preset of this synthetic", yamlform.Suggest(presets, "presets"))
	}
	v := fleet.Variant{
		Name: cmp.Or(f.Name, preset, url.name()), Unnamed: f.Name == "" && preset == "", Preset: preset,
		Target: readEndpoint(r, path, url, f.fileAPI), Metrics: readMetricsURLs(r, path+".metrics_urls", url, f.MetricsURLs), Switch: f.Switch,
		Deployment: readLines(r, path+".deployment", f.Deployment),
	}
	v.Target.Name, v.Target.Connection = v.Name, f.Connection
	v.Target.Extra = checkExtraBody(r, path+".extra_body", v.Target.API, f.ExtraBody)
	return v
}

// readLines converts a mapping to lines of the deployment table, in the order of the file.
func readLines(r *reader, path string, in map[string]string) []serverside.Setting {
	var out []serverside.Setting
	for _, name := range r.Keys(path, in) {
		out = append(out, serverside.Setting{Name: name, Value: in[name], Source: "plan"})
	}
	return out
}

const (
	defaultWarmUp    = time.Minute
	defaultSnapshot  = 100 * time.Second
	defaultSnapshots = 3
	maxConcurrency   = 1_000_000
	maxLevelRate     = 10_000
	// fastestStarts is how many conversations per second start accurately. If hundreds start at once, they wait for
	// the prober itself, which their TTFT then contains.
	fastestStarts = 1000
)

// readLevels resolves the levels and their load.
func readLevels(r *reader, f fileLevels, p *fleet.Plan) {
	switch {
	case r.Wrong("levels"):
	case r.Has("levels.concurrency"):
		p.StartRate = cmp.Or(f.StartRate, fastestStarts)
		p.Levels = rising(r, "levels.concurrency", f.Concurrency, maxConcurrency)
		r.NoEffect("levels", "beside concurrency, which waits for answers", "remove it", "process", "burstiness", "max_concurrency")
	case r.Has("levels.rate"):
		p.OpenLoop, p.MaxConcurrency, p.Arrival.Process = true, f.MaxConcurrency, f.Process
		p.Levels = rising(r, "levels.rate", f.Rate, maxLevelRate)
		r.NoEffect("levels", "beside rate", "remove it", "start_rate")
		if f.Process == workload.Gamma {
			p.Arrival.Burstiness = f.Burstiness
		} else {
			r.NoEffect("levels", "with process "+string(f.Process), "remove it", "burstiness")
		}
	case r.Has("levels"):
		r.Mistake("levels", "", "has neither concurrency nor rate", "write for example concurrency: [10, 20, 30]")
	}
}

// rising checks a list of levels: above 0, each above the previous one.
func rising[T int | float64](r *reader, path string, in []T, limit T) []float64 {
	var out []float64
	for i, v := range in {
		at := yamlform.Index(path, i)
		switch {
		case !r.Valid(at):
		case v <= 0:
			r.Mistake(at, fmt.Sprint(v), "is not above 0", "write the load of a level")
		case v > limit:
			r.Mistake(at, fmt.Sprint(v), fmt.Sprintf("is above %v", limit), fmt.Sprintf("write %v or less", limit))
		case i > 0 && r.Valid(yamlform.Index(path, i-1)) && v <= in[i-1]:
			r.Mistake(at, fmt.Sprint(v), fmt.Sprintf("is not above %v, the previous level", in[i-1]), "write the levels in rising order, each once")
		}
		out = append(out, float64(v))
	}
	return out
}

func readMeasure(r *reader, m fleet.Measure) fleet.Measure {
	if m.Conversations == 0 {
		m.Snapshots = cmp.Or(m.Snapshots, defaultSnapshots)
		m.Snapshot = cmp.Or(m.Snapshot, defaultSnapshot)
		return m
	}
	if m.Snapshots > 1 {
		r.Mistake("measure.snapshots", strconv.Itoa(m.Snapshots), "cannot be combined with conversations", "remove it")
	}
	m.Snapshots = 1
	return m
}

// readWarmUp completes the warm-up. Its load must not continue into a measurement that counts
// conversations.
func readWarmUp(r *reader, w fleet.WarmUp, m fleet.Measure) fleet.WarmUp {
	const at = "warm_up"
	if w.Conversations > 0 {
		w.Duration = 0
		return w
	}
	if m.Conversations > 0 && w.Duration > 0 && r.Valid(at) {
		r.Mistake(at+".duration", model.Duration(w.Duration).String(), "cannot be combined with measure.conversations, which would count its conversations", "write warm_up: {conversations: 10, rate: 0.5}, or remove it")
	}
	r.NoEffect(at, "without conversations", "remove it", "rate", "cooldown")
	if !r.Has(at+".duration") && m.Conversations == 0 {
		w.Duration = defaultWarmUp
	}
	return fleet.WarmUp{Duration: w.Duration}
}

func readCache(r *reader, c fleet.Cache, w workload.Spec) fleet.Cache {
	switch {
	case c.Policy != fleet.Prime:
		r.NoEffect("cache", "with policy "+string(c.Policy), "remove it", "conversations")
		c.Conversations = 0
	case !w.SharesTexts() && r.Valid("workload"):
		r.Mistake("cache.policy", string(c.Policy), "has no effect, because conversations share no text", "write workload.starters, or remove it")
	}
	return c
}
