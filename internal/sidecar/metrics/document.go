package metrics

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/slo"
)

//go:embed document.md.tmpl
var documentTemplate string

// Document is the reference of the metrics in Markdown: what each metric means, and the catalog.
func Document() ([]byte, error) {
	t, err := template.New("metrics.md").Funcs(template.FuncMap{
		"code": code, "list": list, "buckets": buckets,
	}).Parse(documentTemplate)
	if err != nil {
		return nil, fmt.Errorf("parsing the template of the metrics document: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, documentData()); err != nil {
		return nil, fmt.Errorf("writing the metrics document: %w", err)
	}
	return b.Bytes(), nil
}

// documentValues are what the template shows.
type documentValues struct {
	Groups           []documentGroup
	Others, Pager    []Metric
	Lines            map[string]int
	PerJob, PerSLO   int
	Failures         []string
	SkipReasons      []string
	Phases           []string
	Buckets          []documentBuckets
	ExemplarInterval time.Duration
	BadTurnInterval  string
	BadTurnKept      string
	BadTurnsPerHour  int
}

// documentGroup are metrics with the same labels.
type documentGroup struct {
	Labels  []string
	Metrics []Metric
}

type documentBuckets struct {
	Names  []string
	Bounds []time.Duration
}

func documentData() documentValues {
	plain, judged := lines(nil), lines([]slo.Objective{{Name: "s", SLI: slo.TTFT, Threshold: time.Second}})
	perSLO := judged[SLOTurns] + judged[SLOViolations]
	v := documentValues{
		Pager: PagerCatalog(), Lines: judged, PerSLO: perSLO,
		Failures: text(probe.Failures()), SkipReasons: SkipReasons(), Phases: Phases(),
		ExemplarInterval: exemplarEvery,
		BadTurnInterval:  slo.Short(badTurnEvery), BadTurnKept: slo.Short(badTurnKept),
		BadTurnsPerHour: 2 * int(time.Hour/badTurnEvery),
		Buckets: []documentBuckets{
			{[]string{TTFT, AnswerTTFT}, tokenBuckets()},
			{[]string{TPOT, ITL}, paceBuckets()},
			{[]string{TurnDuration}, turnBuckets()},
			{[]string{ConversationDuration}, conversationBuckets()},
			{[]string{PhaseDuration}, phaseBuckets()},
			{[]string{ScheduleLag, ReadLag}, lagBuckets()},
		},
	}
	v.Groups, v.Others = grouped(Catalog())
	for _, m := range Catalog() {
		if slices.Contains(m.Labels, LabelWorkload) {
			v.PerJob += plain[m.Name]
		}
	}
	return v
}

// grouped puts metrics with the same labels together, in the order of the
// catalog; those of labels that few metrics have are left over.
func grouped(catalog []Metric) (groups []documentGroup, others []Metric) {
	const few = 3
	same := map[string][]Metric{}
	for _, m := range catalog {
		labels := list(m.Labels)
		same[labels] = append(same[labels], m)
	}
	for _, m := range catalog {
		switch all := same[list(m.Labels)]; {
		case len(all) < few:
			others = append(others, m)
		case all[0].Name == m.Name:
			groups = append(groups, documentGroup{m.Labels, all})
		}
	}
	return groups, others
}

// lines counts the lines of text that each family takes for one job in which
// every phase and bad turns of both kinds have happened.
func lines(objectives []slo.Objective) map[string]int {
	r := NewRecorder(Options{
		Build:           Build{Version: "v"},
		TimestampSource: func() string { return "s" },
		Heartbeat:       func(probe.Key) time.Time { return time.Time{} },
	})
	r.Apply(Snapshot{
		Targets: []Target{{Name: "t", ServerMetrics: true}}, SLOs: objectives,
		Jobs: []Job{{Target: "t", Workload: "w", Rate: 1, Benchmark: Benchmark{Run: "r"}, Benchmarks: known()}},
	})
	r.ServerRead("t", ServerReading{Complete: true, Counted: true, Gauged: true})
	j := r.jobs[probe.Key{Target: "t", Workload: "w"}]
	for _, h := range j.phase {
		h.observe(time.Millisecond)
	}
	for k := range j.badTurns {
		j.badTurns[k] = badTurn{trace: "t", seen: r.options.Now()}
	}
	f := r.newFrame()
	f.fill(r)
	count := map[string]int{}
	for _, fam := range f.exported() {
		for _, m := range fam.Metric {
			count[fam.GetName()] += samples(m)
		}
	}
	return count
}

// known is a benchmark that lacks nothing.
func known() (all regression.Benchmarks) {
	one := regression.Benchmark{Typical: time.Second, Samples: 1}
	for i := range one.Quantiles {
		one.Quantiles[i] = time.Second
	}
	for k := range all {
		for s := range all[k] {
			all[k][s] = one
		}
	}
	return all
}

// samples is the number of lines of a series: +Inf, sum and count included.
func samples(m *dto.Metric) int {
	switch {
	case m.Histogram != nil:
		return len(m.Histogram.Bucket) + 3
	case m.Summary != nil:
		return len(m.Summary.Quantile) + 2
	}
	return 1
}

func code(s string) string { return "`" + s + "`" }

func list(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = code(s)
	}
	return strings.Join(quoted, ", ")
}

// buckets writes the bounds in seconds.
func buckets(bounds []time.Duration) string {
	texts := make([]string, len(bounds))
	for i, b := range bounds {
		texts[i] = strconv.FormatFloat(b.Seconds(), 'f', -1, 64)
	}
	return strings.Join(texts, ", ")
}
