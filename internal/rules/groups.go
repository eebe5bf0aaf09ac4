package rules

import (
	"bytes"
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"go.yaml.in/yaml/v3"

	"synthetic/internal/sidecar/metrics"
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

// minTurns is the fewest turns from which a share of turns means something.
const minTurns = 3

// functions are what the form calls: first what depends on the traffic.
func (in Input) functions() template.FuncMap {
	return template.FuncMap{
		"byFailures": func() []group[int] { return partition(in.Jobs, Job.failedInARow) },
		"byWindow":   func() []group[time.Duration] { return partition(in.Jobs, Job.shareWindow) },
		"byJerks":    func() []group[time.Duration] { return partition(in.Jobs, Job.jerkWindow) },
		"bySilence":  func() []group[time.Duration] { return partition(in.Jobs, Job.silence) },
		"judgedJobs": func() []group[judgement] { return partition(in.Jobs, in.judgement) },
		"targets":    in.targets, "sloNames": in.sloNames, "fleet": in.fleet,

		"configured": constant(RecordConfigured), "lost": constant(recordLost), "starved": constant(RecordStarved), "regression": constant(RecordRegression),
		"outage": constant(RecordOutage), "fleetName": constant(RecordFleet), "incident": constant(RecordIncident),
		"effect": constant(RecordEffect), "part": constant(RecordPart), "leastEffect": func() string { return num(leastEffect) },
		"serverMetrics": func() bool { return slices.ContainsFunc(in.Jobs, func(j Job) bool { return j.ServerMetrics }) },

		"unlessStarved": constant(unlessStarved), "andConfigured": constant(andConfigured),
		"heldBy": func(after string, causes ...string) (string, error) {
			d, err := time.ParseDuration(after)
			return heldBy(d, causes...), err
		},

		"minTurns": func() int { return minTurns }, "slowInterval": func() string { return slo.Short(slowInterval) },
		"equals": equals, "oneOf": oneOf, "selector": func(m string) string { return matchers{m}.on("") },
		"noneOf": func(label string, values []string) string { return noneOf(label, values).on("") },
		"short":  slo.Short, "num": num, "percent": percent,
		// exact writes a number so that it reads back as the same one.
		"exact": func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) },
		"list":  func(values ...string) []string { return values },

		"oddAnswers": oddAnswers, "answersSeverity": func() slo.Severity { return cmp.Or(in.Answers, slo.Ticket) },

		"jobOf": constant(jobOf), "asks": asks, "told": told, "mostly": mostly, "effects": effects,
		"slowTurn": slowTurn, "failedTurn": failedTurn, "acceptance": acceptance, "starvedText": starvedText,
	}
}

// oddAnswers counts the answers that are odd for a reason, where they are more
// than a few and a tenth of all.
func oddAnswers(g group[time.Duration], op string) string {
	return g.matchers.with("reason"+op+`"model"`).increase(perJob(), metrics.OddAnswers, g.Key) +
		" > 2 + 0.1 * " + g.matchers.increase(perJob(), metrics.Turns, g.Key)
}

func constant(s string) func() string { return func() string { return s } }

// fleet is how many targets must have a fault at the same time for it to be one
// that they share; 0 where there are too few to tell. TARGET/* stands for models
// that may be many, or few: it makes a rule, and raises no limit.
func (in Input) fleet() int {
	const least, share = 3, 0.3
	n := len(in.targets())
	many := func(target string) bool { return strings.HasSuffix(target, "/*") }
	if n < least && !slices.ContainsFunc(in.targets(), many) {
		return 0
	}
	return max(least, int(math.Ceil(share*float64(n))))
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

// jerkWindow is shareWindow for what is the same in each turn: of at least five
// minutes.
func (j Job) jerkWindow() time.Duration {
	return j.windowFor(5*time.Minute, 5*time.Minute, 2*minTurns)
}

// judgement is how the alert on a job's judged turns counts them.
type judgement struct {
	// Counter is of the turns that are judged, by an objective if there is one.
	Counter string
	// Window has some turn of the job. Silence is that of its probers.
	Window, Silence time.Duration
}

func (in Input) judgement(j Job) judgement {
	k := judgement{metrics.Turns, j.windowFor(15*time.Minute, 15*time.Minute, expectedStarts), j.silence()}
	if slices.ContainsFunc(in.SLOs, func(o slo.Objective) bool { return o.CoversJob(j.Target, j.Workload) }) {
		k.Counter = metrics.SLOTurns
	}
	return k
}

func (in Input) targets() []string { return targetsOf(in.Jobs) }

func (in Input) sloNames() []string {
	var names []string
	for _, o := range in.SLOs {
		names = append(names, o.Name)
	}
	return names
}
