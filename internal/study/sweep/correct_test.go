package sweep

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/slo"
	"synthetic/internal/study/report"
	"synthetic/internal/study/runs"
)

// confused asks a deployment for another reference than the client does, in half of the follow-up turns while it
// answers more than 8 requests.
type confused struct {
	http.Handler
	inFlight, requests atomic.Int64
}

var wantedReference = regexp.MustCompile(`with reference \d+`)

func (c *confused) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer c.inFlight.Add(-1)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	asked := wantedReference.FindAllIndex(body, -1)
	isFollowUp := bytes.Contains(body, []byte(`"role":"assistant"`))
	if c.inFlight.Add(1) > 8 && isFollowUp && asked != nil && c.requests.Add(1)%2 == 0 {
		last := asked[len(asked)-1]
		body = slices.Concat(body[:last[0]], []byte("with reference 999"), body[last[1]:])
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	c.Handler.ServeHTTP(w, r)
}

// TestWrongAnswersEndTheCapacity sweeps a deployment that confuses references under load. The first finding says from which level answers are wrong, the capacity lies below it, in a grid as in a search,
// and the gate fails.
func TestWrongAnswersEndTheCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, err := cluster.Preset("phase0")
		if err != nil {
			t.Fatal(err)
		}
		var net network
		defer net.serve(t, "a", &confused{Handler: simulate.New(simulate.Options{
			Seed: 1, Cluster: &config, Answer: simulate.Length{Median: 10},
		})})()
		plan := small()
		plan.Workload.Recall, plan.Workload.TurnsMin, plan.Workload.TurnsMax, plan.Workload.PromptTokens = 1, 3, 4, 300
		plan.SLOs = []slo.Objective{{Name: "correct", SLI: slo.Correct, Objective: 0.95}}
		plan.Levels, plan.WarmUp.Duration, plan.Measure = []float64{2, 4, 32}, 5*time.Second, fleet.Measure{Snapshots: 1, Snapshot: 30 * time.Second}
		for _, search := range []bool{false, true} {
			var dir string
			var capacity runs.Capacity
			// Ten blocks look correlated by chance in 1 of 50 measurements, and then prove too little.
			for tries := 0; capacity.Missed == nil && tries < 3; tries++ {
				dir = t.TempDir()
				run, err := Run(t.Context(), Options{Plan: plan, Dir: dir, Dial: net.Dial, FindCapacity: search})
				if err != nil {
					t.Fatal(err)
				}
				capacity = capacities(plan, run)[0]
			}
			if capacity.Level == nil || capacity.Missed == nil || *capacity.Level != 4 || *capacity.Missed != 32 {
				t.Errorf("search %v: %s, want 4 and 32", search, capacity.Sentence("concurrency"))
			}
			s, err := report.Read(filepath.Join(dir, "run.json"))
			if err != nil {
				t.Fatal(err)
			}
			if found, err := report.Terminal(s); err != nil || !strings.Contains(found, "\nFrom concurrency 32 on, answers of a are wrong: ") || !strings.Contains(found, ", against 0") {
				t.Errorf("search %v: findings %q", search, found)
			}
			for text, want := range map[string]report.GateResult{"correct<95%": report.GateFailed, "capacity<32": report.GateFailed, "foreign_answers>0": 0} {
				conditions, err := report.ParseConditions(text)
				if err != nil {
					t.Fatal(err)
				}
				if got, summary := report.CheckGate(s, conditions); got != want {
					t.Errorf("search %v, %s: result %d, want %d\n%s", search, text, got, want, summary)
				}
			}
			for _, l := range s.Series[0].Levels {
				cached := l.Figure(report.CorrectCachedPct)
				wrong := float64(l.Recall.Wrong) / l.Figure(report.TurnsPerSecond).Value / plan.Measure.Snapshot.Seconds()
				goodput := l.Value(report.GoodputPerSecond) / l.Value(report.TurnsPerSecond)
				if l.At <= 4 && cached.Value != 100 || l.At > 4 && !(cached.Value < 95) || !search && (goodput-1+wrong > 1e-9 || goodput-1+wrong < -1e-9) {
					t.Errorf("search %v, level %g: cached %v, goodput %g of the turns, wrong %g", search, l.At, cached, goodput, wrong)
				}
			}
		}
	})
}
