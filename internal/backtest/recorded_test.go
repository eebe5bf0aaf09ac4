package backtest

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/util/testutil"
)

// epoch is a Monday at midnight.
func epoch() time.Time { return time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) }

// recording calls each with the samples of a gauge, every 30 s for six hours. The gauge is 1 in
// the third hour and 0 otherwise.
func recording(each func(at time.Time, v float64)) {
	for t := time.Duration(0); t < 6*time.Hour; t += 30 * time.Second {
		v := 0.0
		if t >= 2*time.Hour && t < 3*time.Hour {
			v = 1
		}
		each(epoch().Add(t), v)
	}
}

const broken = `
groups:
  - name: g
    rules:
      - {alert: Broken, expr: 'max_over_time(broken[2m]) > 0', labels: {severity: page}}
`

func brokenRules(t *testing.T) []*RuleSet {
	t.Helper()
	sets, err := LoadRuleFiles([]RuleFile{{"r", []byte(broken), RuleOptions{Interval: time.Minute}}})
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

// scoreRecording scores the last five hours of recording.
func scoreRecording(t *testing.T, src Source) Score {
	t.Helper()
	incident := Incident{Name: "broken", From: epoch().Add(2 * time.Hour), To: epoch().Add(3 * time.Hour), Within: time.Hour}
	report, err := ScoreRecording(t.Context(), src, brokenRules(t),
		[]Incident{incident}, epoch().Add(time.Hour), epoch().Add(6*time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	return report.Scores[0]
}

func checkRecording(t *testing.T, s Score) {
	t.Helper()
	if len(s.Faults) != 1 || s.FalsePages != 0 || s.TruePages != 1 {
		t.Fatalf("score %+v: want the one incident paged once", s)
	}
	f := s.Faults[0]
	if f.Recall != 1 || f.MedianToPage == nil || *f.MedianToPage > 90 || *f.MedianToResolve > 240 {
		page, _ := json.Marshal(f)
		t.Errorf("found %s; want a page within 90 s, resolved within 4 min", page)
	}
}

func TestBlocks(t *testing.T) {
	dir := t.TempDir()
	db, err := tsdb.Open(dir, nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	app := db.Appender(t.Context())
	recording(func(at time.Time, v float64) {
		if _, err := app.Append(0, labels.FromStrings(model.MetricNameLabel, "broken", "target", "a"), at.UnixMilli(), v); err != nil {
			t.Fatal(err)
		}
	})
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := testutil.DirHash(t, dir)
	src, stop, err := OpenBlocks(dir, epoch())
	if err != nil {
		t.Fatal(err)
	}
	checkRecording(t, scoreRecording(t, src))
	if err := stop(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, testutil.DirHash(t, dir)); diff != "" {
		t.Error("the replay changed the recording")
	}
	if _, _, err := OpenBlocks(dir+"/none", epoch()); err == nil {
		t.Error("no error for a directory that does not exist")
	}
}

func TestRemote(t *testing.T) {
	queries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries++
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		bound := func(name string) time.Time {
			s, err := strconv.ParseFloat(r.Form.Get(name), 64)
			if err != nil {
				t.Errorf("%s=%q: %v", name, r.Form.Get(name), err)
			}
			return time.UnixMilli(int64(math.Round(s * 1000)))
		}
		var values [][]any
		recording(func(at time.Time, v float64) {
			if !at.Before(bound("start")) && !at.After(bound("end")) {
				values = append(values, []any{float64(at.UnixMilli()) / 1000, strconv.FormatFloat(v, 'g', -1, 64)})
			}
		})
		result := []any{}
		if r.Form.Get("query") == "broken" && len(values) > 0 {
			result = append(result, map[string]any{"metric": map[string]string{"__name__": "broken", "target": "a"}, "values": values})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": "matrix", "result": result}}); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	src, err := NewRemote(server.URL, 30*time.Second, epoch())
	if err != nil {
		t.Fatal(err)
	}
	checkRecording(t, scoreRecording(t, src))
	if queries == 0 {
		t.Error("Prometheus was not asked")
	}
}

func TestRemoteSaysWhatWentWrong(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	src, err := NewRemote(server.URL, 30*time.Second, epoch())
	if err != nil {
		t.Fatal(err)
	}
	_, err = ScoreRecording(t.Context(), src, brokenRules(t), nil, epoch(), epoch().Add(time.Hour), nil)
	if err == nil {
		t.Error("no error from a server that knows nothing")
	}
}

// TestDropUndecided: a stopped replay scores neither the incidents that could still be found nor their alerts.
func TestDropUndecided(t *testing.T) {
	incident := func(name string, from float64) Incident {
		return Incident{Name: name, From: at(from), To: at(from + 30), Within: 30 * time.Minute, Target: "a"}
	}
	earlier, other := span("Page", 10, 12, "target", "a"), span("Page", 45, 60, "target", "b")
	run := Outcome{
		Incidents: []Incident{incident("over", 10), incident("running", 40), incident("to come", 90)},
		Spans:     [][]Span{{earlier, span("Page", 42, 60, "target", "a"), other}},
	}
	run.dropUndecided(at(60))
	want := Outcome{Incidents: []Incident{incident("over", 10)}, Spans: [][]Span{{earlier, other}}}
	if !reflect.DeepEqual(run, want) {
		t.Errorf("got %+v, want %+v", run, want)
	}
}

// TestFilesOfAPartialReport: they do not replace those of a complete report.
func TestFilesOfAPartialReport(t *testing.T) {
	complete, err := Report{}.Files()
	if err != nil {
		t.Fatal(err)
	}
	partial, err := Report{Partial: "stopped"}.Files()
	if err != nil || partial[0].Name == complete[0].Name || partial[1].Name == complete[1].Name {
		t.Errorf("%q, %q: %v", partial[0].Name, partial[1].Name, err)
	}
}
