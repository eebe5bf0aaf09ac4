package config

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the intro of the reference
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
)

//go:embed plan.txt
var planIntro string

// PlanDocumentation documents plan files.
func PlanDocumentation() yamlform.Document {
	return yamlform.NewDocument[filePlan]("Plan of a synthetic sweep", planIntro, keyTexts, "workload")
}

// LoadPlan reads and validates a plan file, as Load does a configuration. presets are the known
// simulated deployments.
func LoadPlan(path string, presets []string) (sweep.Plan, error) {
	data, err := yamlform.Read(path)
	if err != nil {
		return sweep.Plan{}, err
	}
	return ParsePlan(path, data, presets)
}

// ParsePlan is LoadPlan for a text. Files that it names are relative to the directory of path.
func ParsePlan(path string, data []byte, presets []string) (sweep.Plan, error) {
	const example = `write at least variants: [{base_url: "http://127.0.0.1:8000/v1"}] and levels: {concurrency: [1, 2]}`
	var f filePlan
	form, err := yamlform.Decode(path, data, example, &f)
	if err != nil {
		return sweep.Plan{}, err
	}
	b := &planner{builder: &builder{Form: form, dir: filepath.Dir(path)}, presets: presets}
	plan := b.plan(f)
	if err := b.Err(); err != nil {
		return sweep.Plan{}, err
	}
	file := filepath.Base(path)
	plan.Source = runfile.Plan{
		File: file, Text: b.Redact("(not kept)", "headers", "extra_body", "http_client"), SHA256: fmt.Sprintf("%x", sha256.Sum256(data)),
	}
	return plan, nil
}

// confidence of verdicts: the customary 95 %.
const confidence = 0.95

// planner turns a decoded plan file into a sweep.Plan.
type planner struct {
	*builder
	presets []string
}

func (b *planner) plan(f filePlan) sweep.Plan {
	w := b.workload("workload", f.Workload)
	p := sweep.Plan{
		Title: f.Title, Seed: f.Seed, Variants: b.variants(f.Variants), Workload: w.Spec,
		Repetitions: f.Repetitions, Order: sweep.Interleaved, Pause: f.Pause, Cache: b.cache(f.Cache),
		Confidence: confidence, EarlyStop: f.EarlyStop, Deployment: b.lines("deployment", f.Deployment),
	}
	if f.Order == string(sweep.Blocks) {
		p.Order = sweep.Blocks
	}
	b.levels(f.Levels, &p, w.ownRate)
	p.Measure = b.measure(f.Measure.Measure)
	b.checkRamp(p)
	p.WarmUp = b.warmUp(f.WarmUp, p.Measure)
	p.SLOs = b.planSLOs(f.SLOs, p)
	return p
}

// planSLOs resolves the SLOs and checks them against the turns of the variants.
func (b *planner) planSLOs(in []filePlanSLO, p sweep.Plan) []slo.Objective {
	var jobs []probe.Job
	for _, v := range p.Variants {
		jobs = append(jobs, probe.Job{Target: v.Target, Workload: p.Workload})
		b.checkSupport("variants", v.Target, p.Workload)
	}
	b.jobsResolved = b.Valid("variants", "workload")
	full := make([]fileSLO, len(in))
	for i, s := range in {
		full[i].fileObjective = s.fileObjective
	}
	return b.slos(full, jobs)
}

func (b *planner) variants(in []fileVariant) []sweep.Variant {
	used := map[string]string{}
	out := make([]sweep.Variant, len(in))
	for i, v := range in {
		path := yamlform.Index("variants", i)
		out[i] = b.variant(path, v)
		b.Name(path, out[i].Name, "variant", used)
	}
	return out
}

func (b *planner) variant(path string, f fileVariant) sweep.Variant {
	url, preset := f.BaseURL.resolve()
	if preset != "" && !slices.Contains(b.presets, preset) {
		b.Mistake(path+".base_url", string(f.BaseURL), "is not a preset of this synthetic", yamlform.Suggest(b.presets, "presets"))
	}
	f.fileEndpoint.BaseURL = url
	v := sweep.Variant{
		Name: cmp.Or(f.Name, preset, url.name()), Unnamed: f.Name == "" && preset == "", Preset: preset,
		Target: b.endpoint(path, f.fileEndpoint, f.fileAPI), Metrics: b.metricsURLs(path+".metrics_urls", url, f.MetricsURLs), Switch: f.Switch,
		Deployment: b.lines(path+".deployment", f.Deployment),
	}
	v.Target.Name, v.Target.Connection = v.Name, f.Connection
	v.Target.Extra = b.extraBody(path+".extra_body", f.ExtraBody)
	return v
}

// lines converts a mapping to lines of the deployment table, in the order of the file.
func (b *planner) lines(path string, in map[string]string) []runfile.Parameter {
	var out []runfile.Parameter
	for _, name := range b.Keys(path, in) {
		out = append(out, runfile.Parameter{Name: name, Value: in[name], Source: "plan"})
	}
	return out
}

const (
	defaultWarmUp    = time.Minute
	defaultSnapshot  = 100 * time.Second
	defaultSnapshots = 3
	maxConcurrency   = 1_000_000
	maxLevelRate     = 10_000
	maxSpeed         = 1_000_000
)

// levels resolves the levels and their load.
func (b *planner) levels(f fileLevels, p *sweep.Plan, ownRate float64) {
	switch {
	case b.Wrong("levels"):
	case b.Has("levels.concurrency"):
		p.Kind, p.StartRate = runfile.Concurrency, f.StartRate
		p.Levels = rising(b, "levels.concurrency", f.Concurrency, maxConcurrency)
		b.NoEffect("levels", "beside concurrency, which waits for answers", "remove it", "process", "burstiness", "max_concurrency", "ramp")
	case b.Has("levels.speed"):
		b.speeds(f, p, ownRate)
	case b.Has("levels.rate"):
		b.rates(f, p, ownRate)
	case b.Has("levels"):
		b.Mistake("levels", "", "has neither concurrency, rate nor speed", "write for example concurrency: [10, 20, 30]")
	}
}

// rates resolves the levels of an open loop.
func (b *planner) rates(f fileLevels, p *sweep.Plan, ownRate float64) {
	p.Kind, p.MaxConcurrency, p.Ramp = runfile.Rate, f.MaxConcurrency, f.Ramp.ramp()
	p.Arrival = workload.Arrival{Process: f.Process}
	p.Levels = rising(b, "levels.rate", f.Rate, maxLevelRate)
	b.NoEffect("levels", "beside rate", "remove it", "start_rate")
	switch {
	case f.Process == workload.Gamma:
		p.Arrival.Burstiness = f.Burstiness
	default:
		b.NoEffect("levels", "with process "+string(f.Process), "remove it", "burstiness")
	}
}

// speeds returns one level for each factor in levels.speed: the trace is replayed that many times
// faster than it was recorded.
func (b *planner) speeds(f fileLevels, p *sweep.Plan, ownRate float64) {
	const at = "levels.speed"
	p.Kind, p.MaxConcurrency, p.Ramp, p.OwnRate = runfile.Rate, f.MaxConcurrency, f.Ramp.ramp(), ownRate
	p.Arrival = workload.Arrival{Process: workload.Constant}
	b.NoEffect("levels", "beside speed, which keeps the recorded times", "remove it", "start_rate", "process", "burstiness")
	switch {
	case !b.Valid("workload"):
	case p.Workload.Trace.File == "":
		b.Mistake(at, "", "needs recorded times", "write workload: {trace: {file: FILE}}, or rate in place of speed")
	case ownRate == 0:
		b.Mistake(at, "", "needs recorded times, and the trace has none", "write rate or concurrency in its place")
	}
	for _, speed := range rising(b, at, f.Speed, maxSpeed) {
		p.Levels = append(p.Levels, sweep.FourDigits(speed*ownRate))
	}
}

// ramp returns the zero value if there is no ramp.
func (f fileRamp) ramp() sweep.Ramp {
	if f.Over == 0 {
		return sweep.Ramp{}
	}
	return sweep.Ramp{From: float64(f.From), Over: f.Over, Steps: f.Steps}
}

// checkRamp checks a ramp against the measurement: each step must be a snapshot, and without steps a
// level must have about the load in its name.
func (b *planner) checkRamp(p sweep.Plan) {
	const at = "levels.ramp.steps"
	n := p.Ramp.Steps
	switch {
	case p.Ramp.Over == 0 || !b.Valid("levels", "measure"):
	case n == 0:
		b.checkEvenRamp(p)
	case len(p.Levels) > 1:
		b.Mistake(at, strconv.Itoa(n), "make levels of one rate, and there are more", "write the highest rate alone")
	case p.Measure.Snapshots != n || p.Measure.Duration() != p.Ramp.Over:
		step := model.Duration(p.Ramp.Over / time.Duration(n))
		b.Mistake(at, strconv.Itoa(n), "must be a snapshot each", fmt.Sprintf("write measure: {snapshots: %d, snapshot: %s}", n, step))
	}
}

// checkEvenRamp checks the average load of levels with an even ramp. A measurement that counts
// conversations takes longer with a ramp.
func (b *planner) checkEvenRamp(p sweep.Plan) {
	for _, level := range p.Levels {
		missing := (1 - p.Ramp.From) / 2 * p.Ramp.Over.Seconds()
		whole := cmp.Or(p.Measure.Duration().Seconds(), float64(p.Measure.Conversations)/level+missing)
		if needed := missing / (1 - runfile.ReachedShare); whole < needed*(1-1e-9) {
			b.Mistake("levels.ramp.over", model.Duration(p.Ramp.Over).String(),
				fmt.Sprintf("leaves rate %g %.0f%% of it on average", level, 100*max(1-missing/whole, 0)),
				fmt.Sprintf("write steps, each of which is a level, or measure for %s", model.Duration(math.Ceil(needed)*1e9)))
			return
		}
	}
}

// rising checks a list of levels: above 0, each above the previous one.
func rising[T int | float64](b *planner, path string, in []T, limit T) []float64 {
	var out []float64
	for i, v := range in {
		at := yamlform.Index(path, i)
		switch {
		case !b.Valid(at):
		case v <= 0:
			b.Mistake(at, fmt.Sprint(v), "is not above 0", "write the load of a level")
		case v > limit:
			b.Mistake(at, fmt.Sprint(v), fmt.Sprintf("is above %v", limit), fmt.Sprintf("write %v or less", limit))
		case i > 0 && b.Valid(yamlform.Index(path, i-1)) && v <= in[i-1]:
			b.Mistake(at, fmt.Sprint(v), fmt.Sprintf("is not above %v, the previous level", in[i-1]), "write the levels in rising order, each once")
		}
		out = append(out, float64(v))
	}
	return out
}

// fileMeasure is the key measure.
type fileMeasure struct{ sweep.Measure }

func (b *planner) measure(m sweep.Measure) sweep.Measure {
	if m.Conversations == 0 {
		m.Snapshots = cmp.Or(m.Snapshots, defaultSnapshots)
		m.Snapshot = cmp.Or(m.Snapshot, defaultSnapshot)
		return m
	}
	m.Snapshots, m.Snapshot = cmp.Or(m.Snapshots, 1), 0
	if m.Snapshots > m.Conversations {
		b.Mistake("measure.snapshots", strconv.Itoa(m.Snapshots), fmt.Sprintf("is more than the %d conversations", m.Conversations), "write fewer snapshots")
	}
	return m
}

// warmUp completes the warm-up. Its load must not continue into a measurement that counts
// conversations.
func (b *planner) warmUp(w sweep.WarmUp, m sweep.Measure) sweep.WarmUp {
	const at = "warm_up"
	if w.Conversations > 0 {
		w.Duration = 0
		return w
	}
	if m.Conversations > 0 && w.Duration > 0 && b.Valid(at) {
		b.Mistake(at+".duration", model.Duration(w.Duration).String(), "cannot be combined with measure.conversations, which would count its conversations", "write warm_up: {conversations: 10, rate: 0.5}, or remove it")
	}
	b.NoEffect(at, "without conversations", "remove it", "rate", "cooldown")
	if !b.Has(at+".duration") && m.Conversations == 0 {
		w.Duration = defaultWarmUp
	}
	return sweep.WarmUp{Duration: w.Duration}
}

func (b *planner) cache(c sweep.Cache) sweep.Cache {
	if c.Policy != sweep.Prime {
		b.NoEffect("cache", "with policy "+string(c.Policy), "remove it", "conversations")
		c.Conversations = 0
	}
	return c
}
