package store

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"synthetic/internal/probe"
	"synthetic/tools/testkit/promtest"
)

// prometheus serves query_range from a storage with the real engine.
func prometheus(t *testing.T, s *promtest.Server) *httptest.Server {
	seconds := func(text string) time.Time {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Error(err)
		}
		return time.UnixMilli(int64(v * 1e3))
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/prom/api/v1/query_range" {
			http.NotFound(w, r)
			return
		}
		step := seconds(r.FormValue("step")).Sub(time.Unix(0, 0))
		from, to := seconds(r.FormValue("start")), seconds(r.FormValue("end"))
		if to.Sub(from)/step > 11_000 {
			t.Errorf("%v points are asked for", to.Sub(from)/step)
		}
		q, err := s.Engine.NewRangeQuery(r.Context(), s.Storage, nil, r.FormValue("query"), from, to, step)
		if err != nil {
			t.Errorf("%s: %v", r.FormValue("query"), err)
			return
		}
		defer q.Close()
		matrix, err := q.Exec(r.Context()).Matrix()
		if err != nil {
			t.Error(err)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": "matrix", "result": answer(matrix)}})
	}))
	t.Cleanup(srv.Close)
	return srv
}

func answer(m promql.Matrix) model.Matrix {
	out := model.Matrix{}
	for _, series := range m {
		stream := &model.SampleStream{Metric: model.Metric{}}
		series.Metric.Range(func(l labels.Label) { stream.Metric[model.LabelName(l.Name)] = model.LabelValue(l.Value) })
		for _, p := range series.Floats {
			stream.Values = append(stream.Values, model.SamplePair{Timestamp: model.Time(p.T), Value: model.SampleValue(p.F)})
		}
		out = append(out, stream)
	}
	return out
}

func newReader(t *testing.T, url string) *Reader {
	t.Helper()
	r, err := New(url+"/prom", map[string]string{"cluster": "eu"}, &http.Client{Transport: http.DefaultTransport})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sums holds the counters of one signal in one process.
type sums struct{ turns, log2, baseline float64 }

func (s *sums) add(seconds, usual float64) {
	s.turns++
	s.log2 += math.Log2(seconds * 1e6)
	s.baseline += math.Log2(usual * 1e6)
}

// exposed returns the counters as samples of one cluster, and of another one that must not be
// read.
func (s *sums) exposed(turn, signal string) []promtest.Sample {
	var out []promtest.Sample
	for i, v := range []float64{s.turns, s.log2, s.baseline} {
		for _, cluster := range []string{"eu", "us"} {
			out = append(out, promtest.Sample{Labels: labels.FromStrings(
				"__name__", counters()[i], "target", "chat", "workload", "chat", "turn", turn, "signal", signal, "cluster", cluster), Value: v})
		}
	}
	return out
}

// TestRead scrapes two replicas every 15 seconds for four days. One restarts in between, another
// is away for an hour. The minutes that are read must equal the real ones.
func TestRead(t *testing.T) {
	const days = 4
	from := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	to := from.Add(days * 24 * time.Hour)
	server := promtest.New(t, nil, time.Minute)
	replicas := []*sums{{}, {}}
	want := map[int64]*sums{}
	level := func(minute int) (seconds, usual float64) {
		return .2 * math.Exp(.3*math.Sin(float64(minute))), .2
	}
	for at, minute := from, 0; !at.After(to); at, minute = at.Add(15*time.Second), int(at.Add(15*time.Second).Sub(from)/time.Minute) {
		for i, counted := range replicas {
			away := i == 1 && minute >= 600 && minute < 660
			if i == 0 && at.Equal(from.Add(3*24*time.Hour)) {
				*counted = sums{}
			}
			instance := "prober-" + strconv.Itoa(i)
			if away {
				server.Scrape(at, instance, nil)
				continue
			}
			server.Scrape(at, instance, counted.exposed("followup", "ttft"))
			// The next scrape sees a turn right after this one.
			if at.Sub(from)%(30*time.Second) == 0 {
				seconds, usual := level(minute)
				counted.add(seconds, usual)
				slot := at.Truncate(time.Minute).Unix()
				if want[slot] == nil {
					want[slot] = &sums{}
				}
				want[slot].add(seconds, usual)
			}
		}
	}
	got, err := newReader(t, prometheus(t, server).URL).Read(t.Context(), probe.Key{Target: "chat", Workload: "chat"}, to.Add(30*time.Second))
	if err != nil || len(got) != 1 {
		t.Fatalf("%d series, error %v", len(got), err)
	}
	minutes := got[Series{1, 0}]
	if least := days*1440 - 10; len(minutes) < least {
		t.Errorf("%d minutes, want at least %d", len(minutes), least)
	}
	differ := 0
	for i, m := range minutes {
		if i > 0 && !m.At.After(minutes[i-1].At) {
			t.Fatalf("%s comes after %s", m.At, minutes[i-1].At)
		}
		w := want[m.At.Unix()]
		if w == nil || m.Turns != w.turns {
			differ++ // a replica went away, came back or restarted
			continue
		}
		if seconds := math.Exp(m.Mean); math.Abs(math.Log2(seconds*1e6)-w.log2/w.turns) > 1e-9 || m.Baseline.OK && math.Abs(math.Exp(m.Baseline.V)-.2) > 1e-9 {
			t.Fatalf("%s: mean %v s, want %v; baseline %v s", m.At, seconds, math.Exp2(w.log2/w.turns)/1e6, math.Exp(m.Baseline.V))
		}
	}
	if differ > 4 {
		t.Errorf("%d minutes have another number of turns", differ)
	}
}

// TestNothingUsual checks that a turn without a baseline gives a minute without one, also if
// the counter of baselines is missing.
func TestNothingUsual(t *testing.T) {
	stream := func(counter, turn string, values ...float64) *model.SampleStream {
		s := &model.SampleStream{Metric: model.Metric{"__name__": model.LabelValue(counter), "turn": model.LabelValue(turn), "signal": "tpot"}}
		for i, v := range values {
			s.Values = append(s.Values, model.SamplePair{Timestamp: model.Time(i * 60_000), Value: model.SampleValue(v)})
		}
		return s
	}
	log2 := math.Log2(20_000) // 20 ms
	got := minutesOf(model.Matrix{
		stream(counters()[0], "first", 10, 12, 12, 15), stream(counters()[1], "first", 0, 2*log2, 2*log2, 5*log2), stream(counters()[2], "first", 7, 7+2*log2, 7+2*log2, 7+5*log2),
		stream(counters()[0], "followup", 1, 2), stream(counters()[1], "followup", 1, 2),
		stream(counters()[0], "neither", 1, 2), stream("up", "first", 1, 1),
	}, promv1.Range{Start: time.Unix(0, 0), End: time.Unix(180, 0)})
	minutes := got[Series{0, 1}]
	if len(minutes) != 2 || minutes[0].Turns != 2 || minutes[1].Turns != 3 || !minutes[1].At.Equal(time.Unix(120, 0)) {
		t.Fatalf("got %+v", got)
	}
	if m := minutes[0]; m.Baseline.OK || math.Abs(math.Exp(m.Mean)-.02) > 1e-12 {
		t.Errorf("got %+v", m)
	}
	if m := got[Series{1, 1}]; len(m) != 1 || m[0].Baseline.OK || m[0].Turns != 1 {
		t.Errorf("without a baseline: %+v", m)
	}
}

// TestFailures checks that errors do not repeat the server's text, and that permanent ones are
// RefusedErrors.
func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		status  int
		body    string
		refused bool
		want    string
	}{
		"no access":    {401, `hunter2`, true, "client error: 401; check the URL and the credentials in state.prometheus"},
		"bad query":    {400, `{"status": "error", "errorType": "bad_data", "error": "hunter2"}`, true, "rejects the query"},
		"overloaded":   {503, `{"status": "error", "errorType": "unavailable", "error": "hunter2"}`, false, "answered with an error (server_error)"},
		"broken":       {502, `hunter2`, false, "answered with an error (server_error)"},
		"not a matrix": {200, `{"status": "success", "data": {"resultType": "vector", "result": []}}`, false, "is a vector, not a matrix"},
		"too large":    {200, `{"status": "success", "data": "` + strings.Repeat("x", mostAnswer) + `"}`, true, "exceeds 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer srv.Close()
			got, err := newReader(t, srv.URL).Read(t.Context(), probe.Key{Target: "chat"}, time.Now())
			var refused *RefusedError
			if err == nil || len(got) > 0 || errors.As(err, &refused) != tt.refused || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, refused %v", err, !tt.refused)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newReader(t, "http://127.0.0.1:1").Read(ctx, probe.Key{}, time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// FuzzMinutes checks that any answer becomes minutes with turns, in order of time, or none.
func FuzzMinutes(f *testing.F) {
	for _, text := range []string{
		`[]`,
		`[{"metric": {"__name__": "synthetic_signal_turns_total", "turn": "first", "signal": "ttft"}, "values": [[0, "1"], [60, "3"], [120, "2"]]},
		  {"metric": {"__name__": "synthetic_signal_log2_total", "turn": "first", "signal": "ttft"}, "values": [[0, "1"], [60, "33"], [120, "20"]]}]`,
		`[{"metric": {"__name__": "synthetic_signal_turns_total", "turn": "first", "signal": "ttft"}, "values": [[0, "1"], [60, "3"], [120, "+Inf"]]},
		  {"metric": {"__name__": "synthetic_signal_log2_total", "turn": "first", "signal": "ttft"}, "values": [[0, "1"], [60, "+Inf"], [120, "1e300"]]}]`,
		`[{"metric": {"__name__": "synthetic_signal_turns_total", "turn": "first", "signal": "tpot"}, "values": [[-60, "1"], [1e18, "+Inf"], [60.5, "NaN"]]}]`,
	} {
		f.Add([]byte(text))
	}
	span := promv1.Range{Start: time.Unix(0, 0), End: time.Unix(180, 0)}
	f.Fuzz(func(t *testing.T, data []byte) {
		var matrix model.Matrix
		if json.Unmarshal(data, &matrix) != nil || slices.Contains(matrix, nil) {
			return
		}
		for series, minutes := range minutesOf(matrix, span) {
			for i, m := range minutes {
				if !(m.Turns > 0 && m.Turns < mostTurns) || !(math.Abs(m.Mean) < 14) || math.IsInf(m.Baseline.V, 0) || m.At.Before(span.Start) || m.At.After(span.End) || i > 0 && !m.At.After(minutes[i-1].At) {
					t.Fatalf("%+v: minute %d is %+v", series, i, m)
				}
			}
		}
	})
}
