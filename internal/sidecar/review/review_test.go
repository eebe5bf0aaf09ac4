package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
	"synthetic/tools/testkit/promtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func turn(end time.Time, o probe.Outcome) probe.Result {
	return probe.Result{
		Target: "t", Workload: "w", Kind: probe.First, Outcome: o, Sent: end.Add(-time.Second), End: end,
		TTFT: probe.Opt[time.Duration]{V: time.Second, OK: o == probe.Success}, PromptTokens: probe.Some(1000), OutputTokens: probe.Some(10),
	}
}

// positions returns counts of one turn at each position.
func positions(all ...int) (c Counts) {
	for _, at := range all {
		c.add(at, 1)
	}
	return c
}

// TestCounterOutlivesTheProcess: a counter that restores the lines of another has its days, and both forget old ones.
func TestCounterOutlivesTheProcess(t *testing.T) {
	job := sink.Job{
		Objectives: []slo.Objective{{Name: "ttft", SLI: slo.TTFT, Threshold: 2 * time.Second, Objective: 0.9}},
		Price:      &workload.Price{Prompt: 1, Output: 100},
	}
	job.Target.Name, job.Workload.Name = "t", "w"
	c := NewCounter()
	c.Add(job)
	for _, ago := range []int{Kept, Kept - 1, 1, 0, 0} {
		c.Observe(turn(noon.AddDate(0, 0, -ago), probe.Success))
	}
	lines := c.Save(false)
	c.Observe(turn(noon, probe.HTTP5xx))
	c.Observe(turn(noon, probe.Canceled))
	if added := c.Save(false); strings.Count(string(added), "\n") != 1 {
		t.Errorf("after turns of one day, %s is saved", added)
	} else {
		lines = append(lines, added...)
	}
	other := NewCounter()
	if err := other.Restore(lines, noon); err != nil {
		t.Fatal(err)
	}
	days := other.Days("")
	hours := make([]HourTurns, 24)
	hours[12].Judged = 3
	want := Day{
		Date: "2026-03-01", Target: "t", Workload: "w", Turns: 3, Failed: 1, Tokens: workload.Tokens{Prompt: 4000, Output: 40}, Cost: 0.008,
		Objectives: []Objective{{Name: "ttft", Wanted: 0.9, Judged: 3, Bad: 1, Threshold: 2 * time.Second, Hours: hours}},
		TTFT:       positions(27, 27, 48), TPOT: positions(48),
	}
	if len(days) != 3 || !reflect.DeepEqual(days[2], want) || !reflect.DeepEqual(days, c.Days("")) {
		t.Errorf("the days are %+v, want three, the last of them %+v", days, want)
	}
	if sum := Sum(days); len(sum) != 1 || sum[0].Turns != 5 || !reflect.DeepEqual(sum[0].Objectives[0], Objective{Name: "ttft", Wanted: 0.9, Judged: 5, Bad: 1, Threshold: 2 * time.Second}) {
		t.Errorf("the sum is %+v", sum)
	}
	if err := other.Restore([]byte("{}\nx\n"), noon); err == nil || !strings.Contains(err.Error(), "line 1 has no day") {
		t.Errorf("damaged lines: %v", err)
	}
}

// TestManyJobsFit checks that the days of 240 busy jobs are all kept, and that the file holds them.
func TestManyJobsFit(t *testing.T) {
	const jobs = 240
	hours := slices.Repeat([]HourTurns{{Judged: 120, Slow: 12}}, 24)
	var latencies Counts
	latencies.add(len(ladder), 1)
	day := Day{Workload: "chat", Turns: 2880, TTFT: latencies, TPOT: latencies, Objectives: []Objective{
		{Name: "availability", Wanted: 0.995, Judged: 2880}, {Name: "ttft", Wanted: 0.99, Judged: 2880, Threshold: time.Second, Hours: hours},
		{Name: "tpot", Wanted: 0.99, Judged: 2880, Threshold: 60 * time.Millisecond, Hours: hours},
	}}
	var lines bytes.Buffer
	for ago := range Kept {
		day.Date = DateOf(noon.AddDate(0, 0, -ago))
		for i := range jobs {
			day.Target = fmt.Sprintf("group/10.0.0.%d", i)
			_ = json.NewEncoder(&lines).Encode(day)
		}
	}
	c := NewCounter()
	if err := c.Restore(lines.Bytes(), noon); err != nil {
		t.Fatal(err)
	}
	saved := c.Save(true)
	if n := bytes.Count(saved, []byte("\n")); n != Kept*jobs || len(saved) > MostBytes/2 {
		t.Errorf("%d of %d days are kept, in %d bytes of at most %d", n, Kept*jobs, len(saved), MostBytes/2)
	}
}

// TestPrometheus reads an hour with an outage of ten minutes from a Prometheus.
func TestPrometheus(t *testing.T) {
	server := promtest.New(t, []byte("groups: []\n"), time.Minute)
	for n := range 121 {
		at := noon.Add(time.Duration(n-120) * time.Minute)
		failed := min(max(n-80, 0), 10)
		job := []string{"target", "t", "workload", "w"}
		sample := func(name string, v int, more ...string) promtest.Sample {
			return promtest.Sample{Labels: labels.FromStrings(append(append([]string{"__name__", name}, job...), more...)...), Value: float64(v)}
		}
		samples := []promtest.Sample{
			{Labels: labels.FromStrings("__name__", "synthetic_slo_objective_ratio", "slo", "up"), Value: 0.9},
			sample("synthetic_turns_total", 10*n), sample("synthetic_turn_failures_total", 10*failed),
			sample("synthetic_slo_turns_total", 10*n, "slo", "up"), sample("synthetic_slo_violations_total", 10*failed, "slo", "up"),
			sample("synthetic_prompt_tokens_total", 1000*n), sample("synthetic_output_tokens_total", 100*n),
		}
		for alert, span := range map[string][2]int{"SyntheticTargetDown": {82, 88}, "SyntheticSLOFastBurn": {84, 91}} {
			if n >= span[0] && n <= span[1] {
				samples = append(samples, sample("ALERTS", 1, "alertname", alert, "alertstate", "firing", "severity", "page"))
			}
		}
		server.Scrape(at, "prober", samples)
	}
	api := httptest.NewServer(serve(t, server))
	defer api.Close()
	r, err := FromPrometheus(t.Context(), api.URL, api.Client(), time.Hour, noon)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Jobs) != 1 || r.Jobs[0].Turns != 600 || r.Jobs[0].Failed != 100 || !reflect.DeepEqual(r.Jobs[0].Objectives[0], Objective{Name: "up", Wanted: 0.9, Judged: 600, Bad: 100}) || r.Jobs[0].Tokens.Sum() < 65_000 {
		t.Errorf("the jobs are %+v", r.Jobs)
	}
	if len(r.Incidents) != 1 {
		t.Fatalf("the incidents are %+v, want one", r.Incidents)
	}
	i := r.Incidents[0]
	if i.Headline != "SyntheticTargetDown, SyntheticSLOFastBurn" || i.Subject() != "t" || i.Repair().V != 10*time.Minute || i.Detection().OK || i.Bad["up"] < 70 || i.Bad["up"] > 100 {
		t.Errorf("the incident is %+v, repaired after %v", i, i.Repair())
	}
}

// TestHistoryFromPrometheus: hours have the turns, the failures and the latencies of the buckets. Failures count
// once, whether the histogram has them or not. A Prometheus without buckets is an error.
func TestHistoryFromPrometheus(t *testing.T) {
	for name, tt := range map[string]struct {
		observed int // turns of ten in the histogram
		wantBad  int // in an hour without slow turns, of 600
	}{"failures without a first token": {9, 60}, "failures with a first token": {10, 0}, "native histograms only": {}} {
		t.Run(name, func(t *testing.T) {
			server := promtest.New(t, []byte("groups: []\n"), time.Minute)
			for n := range 181 {
				sample := func(name string, v int, more ...string) promtest.Sample {
					return promtest.Sample{Labels: labels.FromStrings(append([]string{"__name__", name, "target", "t", "workload", "w"}, more...)...), Value: float64(v)}
				}
				samples := []promtest.Sample{sample("synthetic_turns_total", 10*n), sample("synthetic_turn_failures_total", n)}
				if all, slow := tt.observed*n, max(0, n-120); tt.observed > 0 { // each minute of the last hour, one of ten turns is slow
					samples = append(samples, sample("synthetic_ttft_seconds_bucket", all-slow, "le", "0.5"), sample("synthetic_ttft_seconds_bucket", all, "le", "+Inf"))
				}
				server.Scrape(noon.Add(time.Duration(n-180)*time.Minute), "prober", samples)
			}
			api := httptest.NewServer(serve(t, server))
			defer api.Close()
			h, err := HistoryFromPrometheus(t.Context(), api.URL, api.Client(), 24*time.Hour, noon)
			if tt.observed == 0 {
				if err == nil || !strings.Contains(err.Error(), "set always_scrape_classic_histograms: true") {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			all := h.Jobs[probe.Key{Target: "t", Workload: "w"}]
			near := func(got, want int) bool { return got >= want-12 && got <= want+12 } // increase extrapolates
			for i, wantSlow := range []int{0, 0, 60} {
				if len(all) != 3 {
					t.Fatalf("%d hours, want 3: %+v", len(all), all)
				}
				bad, judged := all[i].TTFT.bad(figureOf(time.Second / 2))
				if !all[i].Start.Equal(noon.Add(time.Duration(i-3)*time.Hour)) || !near(all[i].Turns, 600) || !near(all[i].Failed, 60) || !near(judged, 600) || !near(bad, tt.wantBad+wantSlow) {
					t.Errorf("the hour from %s has %d turns, %d failed, %d of %d slow", all[i].Start, all[i].Turns, all[i].Failed, bad, judged)
				}
			}
		})
	}
}

// serve answers the queries of Prometheus' API that FromPrometheus asks.
func serve(t *testing.T, s *promtest.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seconds := func(name string) time.Time {
			v, err := strconv.ParseFloat(r.FormValue(name), 64)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return time.UnixMilli(int64(1000 * v))
		}
		var query interface {
			Close()
		}
		var result any
		if strings.HasSuffix(r.URL.Path, "query_range") {
			q, err := s.Engine.NewRangeQuery(r.Context(), s.Storage, nil, r.FormValue("query"), seconds("start"), seconds("end"), time.Duration(seconds("step").UnixMilli())*time.Millisecond)
			if err != nil {
				t.Error(err)
				return
			}
			result, query = q.Exec(r.Context()).Value, q
		} else {
			q, err := s.Engine.NewInstantQuery(r.Context(), s.Storage, nil, r.FormValue("query"), seconds("time"))
			if err != nil {
				t.Error(err)
				return
			}
			result, query = q.Exec(r.Context()).Value, q
		}
		defer query.Close()
		text, err := json.Marshal(result)
		if err != nil {
			t.Error(err)
		}
		kind := "vector"
		if strings.HasSuffix(r.URL.Path, "query_range") {
			kind = "matrix"
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":%q,"result":%s}}`, kind, text)
	})
}
