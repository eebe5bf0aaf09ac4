package metrics

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// TestNothingReadsTheUnread checks that no generated rule and no dashboard uses a family that
// lean leaves out.
func TestNothingReadsTheUnread(t *testing.T) {
	files := slices.Concat(glob(t, "../../../alerts/*.yml"), glob(t, "../../../dashboards/*.json"))
	if len(files) < 5 {
		t.Fatalf("found only %q", files)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range unread() {
			if regexp.MustCompile(family + `(_bucket|_sum|_count)?\b`).Match(text) {
				t.Errorf("%s reads %s", file, family)
			}
		}
	}
	for _, family := range []string{SignalTurns, SignalLog2, SignalBaselineLog2} {
		if slices.Contains(unread(), family) {
			t.Errorf("%s is left out, from which histories are read back", family)
		}
	}
	for _, family := range slices.Concat(unread(), zero(), unknown()) {
		if !slices.ContainsFunc(Catalog(), func(m Metric) bool { return m.Name == family }) {
			t.Errorf("%s is not in the catalog", family)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestLeanIsCompact counts the series of a target with the default SLOs, after every event
// except a failure and the phases of TLS and DNS, as a Prometheus with native histograms does.
func TestLeanIsCompact(t *testing.T) {
	r := newPlainRecorder(Options{Heartbeat: func(probe.Key) time.Time { return start }})
	info := sink.Job{}
	info.Target.Name, info.Workload.Name, info.Traffic.Rate = "east", "chat", 0.1
	for _, sli := range []slo.SLI{slo.TTFT, slo.TPOT, slo.Availability} {
		info.Objectives = append(info.Objectives, slo.Objective{Name: string(sli), SLI: sli, Threshold: time.Second, Objective: 0.99})
	}
	r.Add(info)
	for _, kind := range probe.TurnKinds() {
		one := turn("east", kind, start, 420*time.Millisecond, 21*time.Millisecond, 12)
		one.TraceID = "t"
		one.Phases = probe.Phases{Connect: probe.Some(time.Millisecond), Headers: probe.Some(time.Millisecond), FirstEvent: probe.Some(time.Millisecond)}
		run(r, one)
	}
	all := map[Mode]int{}
	for _, mode := range []Mode{Lean, native, both} {
		r.SetMode(mode)
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.Metric {
				if hasLabel(m, LabelTarget) {
					all[mode] += samples(m)
				}
				if mode == native && m.Histogram != nil {
					checkNative(t, f.GetName(), m.Histogram)
				}
				if mode != both && m.Histogram != nil && hasLabel(m, LabelTarget) {
					all[mode] -= samples(m) - 1
				}
			}
		}
	}
	if all[Lean] > 100 || all[Lean] != all[native] || all[both] < 380 {
		t.Errorf("series: %v, want at most 100 in lean and native, and at least 380 in both", all)
	}
	t.Logf("series: %v", all)
}

// TestLeanKeepsZerosThatAreValues checks that lean leaves out a gauge whose 0 is a value only while it is NaN.
func TestLeanKeepsZerosThatAreValues(t *testing.T) {
	for name, tt := range map[string]struct {
		v    float64
		want bool
	}{
		ExpectedFalsePages: {0, false}, BaselineNoise: {0, false}, Detectable: {1.3, false}, CachedBaseline: {0, false},
		BaselineMoved: {0, true}, ConversationsSkipped: {0, true},
	} {
		if got := Lean.form().leavesOut(name, tt.v); got != tt.want {
			t.Errorf("%s = %v is left out: %t", name, tt.v, got)
		}
		if got := Lean.form().leavesOut(name, math.NaN()); got != slices.Contains(unknown(), name) {
			t.Errorf("%s = NaN is left out: %t", name, got)
		}
	}
	e := newExposition(start, Catalog(), Lean)
	var reading baseline.Reading
	for w := range reading.Views[0][0].Detectable {
		reading.Views[0][0].Detectable[w] = probe.Some(1.3)
	}
	gatherRegression(e, labels{}, &reading, 0)
	if got := len(e.families[Detectable].Metric); got != 2 {
		t.Errorf("%d series of %s, want those within 15m and 1h", got, Detectable)
	}
}

func hasLabel(m *dto.Metric, name string) bool {
	return slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == name })
}

// checkNative checks that a histogram has only native buckets, with the exemplars of the
// classic ones.
func checkNative(t *testing.T, family string, h *dto.Histogram) {
	t.Helper()
	if len(h.Bucket) > 0 || h.Schema == nil {
		t.Errorf("%s has %d classic buckets in native, schema %v", family, len(h.Bucket), h.Schema)
	}
	if family == ttft && len(h.Exemplars) != 1 {
		t.Errorf("%s has %d exemplars, want that of its turn", family, len(h.Exemplars))
	}
}

func TestClassicHasNoNativeBuckets(t *testing.T) {
	r := scripted()
	r.SetMode(classic)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	histograms := 0
	for _, f := range families {
		for _, m := range f.Metric {
			if h := m.Histogram; h != nil {
				histograms++
				if h.Schema != nil || h.PositiveSpan != nil || len(h.Bucket) == 0 {
					t.Errorf("%s: schema %v, %d spans, %d buckets", f.GetName(), h.Schema, len(h.PositiveSpan), len(h.Bucket))
				}
			}
		}
	}
	if histograms == 0 {
		t.Error("no histogram was exported")
	}
}

// TestOwnLabelsAreOnAllSeries checks that a target's labels are on all of its series, and on no
// other target's.
func TestOwnLabelsAreOnAllSeries(t *testing.T) {
	r := scripted()
	own := target.Target{Name: "east", Service: "chat", Labels: map[string]string{"team": "search"}}
	var info sink.Job
	info.Target, info.Workload.Name, info.ServerMetrics = own, "chat", true
	r.Add(info)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, f := range families {
		for _, m := range f.Metric {
			got := map[string]string{}
			for _, l := range m.Label {
				got[l.GetName()] = l.GetValue()
			}
			of := got[LabelTarget]
			labeled := got[LabelService] == "chat" && got["team"] == "search"
			if seen[of]++; labeled != (of == "east") {
				t.Errorf("%s%v: has the labels of the target east: %t", f.GetName(), got, labeled)
			}
			if !slices.IsSortedFunc(m.Label, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) }) {
				t.Errorf("%s: labels out of order: %v", f.GetName(), m.Label)
			}
		}
	}
	if seen["east"] < 100 || seen["west"] < 100 {
		t.Errorf("series: %v", seen)
	}
}
