package rules

import (
	"bytes"
	_ "embed"
	"slices"
	"strconv"
	"text/template"
	"time"

	"go.yaml.in/yaml/v3"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/slo"
)

//go:embed groups.yml
var form string

// generalGroups are the rules that need no objective.
func (in Input) generalGroups() ([]ruleGroup, error) {
	t, err := template.New("groups.yml").Delims("<<", ">>").Funcs(in.functions()).Parse(form)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, in); err != nil {
		return nil, err
	}
	var file struct{ Groups []ruleGroup }
	d := yaml.NewDecoder(&text)
	d.KnownFields(true)
	err = d.Decode(&file)
	return file.Groups, err
}

const (
	// minTurns is the fewest turns from which a share of turns means something.
	minTurns = 3
	// tailShare of the turns in the tail page, if they are minTail.
	tailShare, minTail = 0.06, 10
	// slowWindow averages what a slow regression is judged by, shortWindow says
	// whether it lasts.
	slowWindow, shortWindow = 30 * time.Minute, 5 * time.Minute
)

// functions are what the form calls: first what depends on the traffic.
func (in Input) functions() template.FuncMap {
	return template.FuncMap{
		"byFailures": func() []group[int] { return partition(in.Jobs, Job.failedInARow) },
		"byWindow":   func() []group[time.Duration] { return partition(in.Jobs, Job.shareWindow) },
		"bySilence":  func() []group[time.Duration] { return partition(in.Jobs, Job.silence) },
		"eachJob":    in.eachJob, "judged": in.judged, "targets": in.targets, "sloNames": in.sloNames,
		"silence": func(j Job) string { return num(j.silence().Seconds()) },
		"tails":   in.tails, "tailWindows": in.tailWindows, "still": still,

		"tailShare": func() float64 { return tailShare }, "minTail": func() int { return minTail },
		"minTurns": func() int { return minTurns }, "slowInterval": func() string { return slo.Short(slowInterval) },
		"slowNoise": func() float64 { return regression.SlowNoise }, "slowFloor": func() float64 { return regression.SlowFloor },

		"lineSum": func(of string) string {
			return matchers{}.increase(perTurn(), "synthetic_prefill_"+of+"_total", slowWindow)
		},
		"equals": equals, "selector": func(m string) string { return matchers{m}.on("") },
		"noneOf": func(label string, values []string) string { return noneOf(label, values).on("") },
		"short":  slo.Short, "num": num, "percent": percent,
		// exact writes a number so that it reads back as the same one.
		"exact": func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) },
		"list":  func(values ...string) []string { return values },
		"one":   one, "queried": queried, "likelyPart": likelyPart, "young": young, "starvedText": starvedText,
	}
}

// failedInARow is how many failures in a row are an outage: the fewer where
// waiting for another takes long.
func (j Job) failedInARow() int {
	if rate := j.outagePerMinute(); rate > 0 && rate < 3 {
		return minTurns
	}
	return 5
}

// shareWindow is the window, of at least a quarter of an hour, that holds twice
// the turns that a share needs.
func (j Job) shareWindow() time.Duration {
	return j.windowFor(15*time.Minute, 15*time.Minute, 2*minTurns)
}

// eachJob is a group for each job, by the window that has some turn of it.
func (in Input) eachJob() []group[time.Duration] {
	var out []group[time.Duration]
	for _, j := range in.Jobs {
		window := j.windowFor(15*time.Minute, 15*time.Minute, expectedStarts)
		out = append(out, group[time.Duration]{window, []Job{j}, selecting([]Job{j})})
	}
	return out
}

// judged is the counter of the turns of a job that are judged, by an objective
// if there is one.
func (in Input) judged(j Job) string {
	if slices.ContainsFunc(in.SLOs, func(o slo.Objective) bool { return o.CoversJob(j.Target, j.Workload) }) {
		return metrics.SLOTurns
	}
	return metrics.Turns
}

func (in Input) targets() []string { return targetsOf(in.Jobs) }

func (in Input) sloNames() []string {
	var names []string
	for _, o := range in.SLOs {
		names = append(names, o.Name)
	}
	return names
}

// tails groups the jobs by the window in which a share of tailShare brings
// minTail turns.
func (in Input) tails() []group[time.Duration] {
	return partition(in.Jobs, func(j Job) time.Duration {
		if j.outagePerMinute() <= 0 {
			return slowWindow
		}
		minutes := min(minTail/(tailShare*j.outagePerMinute()), 24*60)
		return slo.WindowAtLeast(max(slowWindow, time.Duration(minutes*float64(time.Minute))))
	})
}

// still is the short window of a tail: whether the fault lasts.
func still(window time.Duration) time.Duration { return window / 6 }

// tailWindows are the windows of all tails, each once.
func (in Input) tailWindows() []string {
	var out []string
	for _, g := range in.tails() {
		for _, w := range []time.Duration{g.Key, still(g.Key)} {
			if name := slo.Short(w); !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
