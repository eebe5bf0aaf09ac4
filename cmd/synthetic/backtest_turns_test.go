package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/backtest"
	"synthetic/internal/probe"
	"synthetic/internal/turnlog"
)

// TestRunWritesWhatBacktestReads checks that backtest replays all turns of a log that a sidecar has written and
// rotated.
func TestRunWritesWhatBacktestReads(t *testing.T) {
	t.Parallel()
	_, server := fastDeployment(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "turns.jsonl")
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": server.URL + "/v1", "b": server.URL + "/v1"}),
		"--turns.file="+path, "--turns.max-size=20KB")
	series := p.until("turns", func(s map[string]float64) bool {
		n, _ := sum(s, "synthetic_turns_total")
		return n > 200
	})
	if code := p.end(); code != exitOK {
		t.Fatalf("exit code %d: %s", code, p.err)
	}
	if v, ok := series["synthetic_turn_log_dropped_total"]; !ok || v != 0 {
		t.Errorf("synthetic_turn_log_dropped_total is %v, %v", v, ok)
	}
	files, err := filepath.Glob(filepath.Join(dir, "turns*.jsonl*"))
	if err != nil || len(files) < 4 { // the lock file is one of them
		t.Fatalf("%v: the log is in %q", err, files)
	}
	out, errs := newBuffer(), newBuffer()
	args := []string{"backtest", "--warm-up=0", "--turns", path}
	for _, f := range files {
		if f != path && !strings.HasSuffix(f, ".lock") {
			args = append(args, f) // as a shell expands turns*
		}
	}
	if code := run(t.Context(), args, out, errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var turns int
	if _, err := fmt.Sscanf(out.String(), "- a log of %d turns of 2 targets;", &turns); err != nil || turns < 200 {
		t.Errorf("%v: the replay begins with\n%.300s", err, out)
	}
}

// weather returns the fault of a target at a time after the start of the log. Turns take slow times as long as
// usual; down turns fail.
type weather func(target string, at time.Duration) (slow float64, down bool)

// writeTurns writes a log of two targets with four conversations a minute.
func writeTurns(t *testing.T, path string, start time.Time, length time.Duration, w weather) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var lines []byte
	for at := time.Duration(0); at < length; at += 5 * time.Second {
		turn := turnlog.Turn{At: start.Add(at), Target: "a", Workload: "chat", Kind: probe.First, Outcome: probe.HTTP5xx, Duration: probe.Some(5 * time.Millisecond)}
		if at%(10*time.Second) > 0 {
			turn.Target = "b"
		}
		if at%(30*time.Second) > 10*time.Second {
			turn.Kind = probe.Followup
		}
		turn.TraceID = fmt.Sprintf("%s%d", turn.Target, at/(30*time.Second))
		if slow, down := w(turn.Target, at); !down {
			turn.Outcome, turn.Duration = probe.Success, probe.Opt[time.Duration]{}
			turn.TTFT = probe.Some(time.Duration(0.3e9 * slow * math.Exp(0.2*rng.NormFloat64())))
			turn.TPOT, turn.OutputTokens = probe.Some(20*time.Millisecond), probe.Some(48)
		}
		lines = turn.Append(lines)
	}
	if err := os.WriteFile(path, lines, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBacktestOfTurns checks that an incident of one target is found for that target, and an incident of both for
// both.
func TestBacktestOfTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	within := func(at, from, length time.Duration) bool { return at >= from && at < from+length }
	writeTurns(t, file("turns.jsonl"), start, 36*time.Hour, func(target string, at time.Duration) (float64, bool) {
		if target == "a" && within(at, 26*time.Hour, time.Hour) {
			return 5, false
		}
		return 1, within(at, 31*time.Hour, 20*time.Minute) || within(at, 12*time.Hour, 20*time.Minute)
	})
	csv := "slow,2026-01-06 02:00,2026-01-06 03:00 UTC,a\n" +
		"outage,2026-01-06T07:00:00Z,2026-01-06T07:20:00Z\n" +
		"while it learned,2026-01-05T12:00:00Z,2026-01-05T12:20:00Z\n"
	if err := os.WriteFile(file("incidents.csv"), []byte(csv), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := newBuffer(), newBuffer()
	args := []string{"backtest", "--turns=" + file("turns.jsonl"), "--incidents=" + file("incidents.csv"), "--warm-up=1", "--output.dir=" + dir}
	if code := run(t.Context(), args, out, errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	text, err := os.ReadFile(file("scores.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report backtest.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	type short struct {
		Target string
		Faults []string
	}
	var got []short
	for _, s := range report.Scores {
		if s.Alert != "" {
			continue
		}
		one := short{Target: s.Target}
		for _, f := range s.Faults {
			one.Faults = append(one.Faults, fmt.Sprintf("%s: %d of %d", f.Fault, f.Found, f.Incidents))
			if f.Fault == "outage" && (f.MedianToPage == nil || *f.MedianToPage > 240) {
				t.Errorf("target %q: the outage was paged after %v s", s.Target, f.MedianToPage)
			}
		}
		got = append(got, one)
		if math.Abs(s.Days-0.5) > 0.01 || s.Hours <= 0 || s.AllFalsePages.Per30DaysHigh == nil {
			t.Errorf("target %q: %v days, %v hours firing, %+v", s.Target, s.Days, s.Hours, s.AllFalsePages)
		}
		for _, p := range s.Pages {
			if s.Target != "" && p.Target != s.Target || len(p.Alerts) == 0 || !p.End.After(p.Start) {
				t.Errorf("target %q has the page %+v", s.Target, p)
			}
		}
	}
	if all := report.Scores[0]; report.Partial != "" || len(report.Forecasts) != 8 || all.Tickets.Count != len(all.Tickets.List) {
		t.Errorf("partial %q, %d forecasts, %d tickets of which %d are listed", report.Partial, len(report.Forecasts), all.Tickets.Count, len(all.Tickets.List))
	}
	want := []short{{"", []string{"slow: 1 of 1", "outage: 1 of 1"}}, {"a", []string{"slow: 1 of 1", "outage: 1 of 1"}}, {"b", []string{"outage: 1 of 1"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	tables, err := os.ReadFile(file("scores.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"2 of 3 labelled incidents began in that time", "- a/chat: 4 conversations and 6 turns a minute",
		"| a | 0.5 |", "| 2026-01-06 07:0", "| outage |",
		"Forecasts at the end of the replay", "\n| b | chat | followup | tpot | ",
	} {
		if !strings.Contains(string(tables), line) {
			t.Errorf("the tables have no %q:\n%s", line, tables)
		}
	}
}

// TestBacktestInterrupted stops a replay. Its scores must equal the scores of a whole replay of the same period.
func TestBacktestInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, csv := filepath.Join(dir, "turns.jsonl"), filepath.Join(dir, "incidents.csv")
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	writeTurns(t, log, start, 12*time.Hour, func(_ string, at time.Duration) (float64, bool) {
		return 1, at%(5*time.Hour) >= 3*time.Hour && at%(5*time.Hour) < 3*time.Hour+20*time.Minute
	})
	if err := os.WriteFile(csv, []byte("first,2026-01-05 03:00,2026-01-05 03:20\nsecond,2026-01-05 08:00,2026-01-05 08:20\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	replay := func(to string, stopAt time.Duration) backtest.Report {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := &backtestFlags{severities: []string{"page,ticket"}, evaluation: 30 * time.Second, scrape: 15 * time.Second}
		f.turns.files, f.recorded.to, f.recorded.incidents = []string{log}, to, csv
		watch := &replayProgress{out: writerFunc(func(line []byte) (int, error) {
			if bytes.Contains(line, []byte(start.Add(stopAt).Format("up to 2006-01-02 15:04,"))) {
				cancel()
			}
			return len(line), nil
		})}
		report, err := f.report(ctx, watch)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	cut, partial := replay("2026-01-05 06:00", 48*time.Hour), replay("", 6*time.Hour)
	if want := "the replay was stopped; scored until 2026-01-05T06:00:00Z instead of 2026-01-05T11:59:55Z"; partial.Partial != want || cut.Partial != "" {
		t.Errorf("partial %q and %q, want %q and none", partial.Partial, cut.Partial, want)
	}
	if len(cut.Scores[0].Pages) == 0 || len(cut.Scores[0].Faults) != 1 {
		t.Errorf("%d pages, incidents %v", len(cut.Scores[0].Pages), cut.Scores[0].Faults)
	}
	if diff := cmp.Diff(cut.Scores, partial.Scores, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("scores of a stopped replay (-want +got):\n%s", diff)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestInterruptedCommand checks the exit code and the messages of a stopped replay.
func TestInterruptedCommand(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "turns.jsonl")
	writeTurns(t, log, time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), time.Hour, func(string, time.Duration) (float64, bool) { return 1, false })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, errs := newBuffer(), newBuffer()
	if code := run(ctx, []string{"backtest", "--turns=" + log, "--warm-up=0"}, out, errs); code != exitStopped || errs.String() != "synthetic: interrupted before anything was scored\n" || out.String() != "" {
		t.Errorf("exit code %d, %q, %q", code, errs, out)
	}
}

// TestReplayProgress checks that a replay prints its progress every ten seconds.
func TestReplayProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newBuffer()
		p := newReplayProgress(out)
		day := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
		for range 22 {
			time.Sleep(time.Second)
			p.read(100_000, day)
		}
		p.replayed(day.Add(6*time.Hour), day, day.Add(24*time.Hour))
		time.Sleep(9 * time.Second)
		p.replayed(day.Add(12*time.Hour), day, day.Add(24*time.Hour))
		want := strings.Repeat("synthetic: read 100000 turns, up to 2026-01-05\n", 2) +
			"synthetic: replayed up to 2026-01-05 12:00, 50 % of the time; Ctrl-C ends the replay with the scores so far\n"
		if out.String() != want {
			t.Errorf("printed %q, want %q", out, want)
		}
	})
}

// TestBacktestOfOtherRules checks that a rule file and the rules for comparison are scored on the same log.
func TestBacktestOfOtherRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, ruleFile := filepath.Join(dir, "turns.jsonl"), filepath.Join(dir, "own.yml")
	writeTurns(t, log, time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), 4*time.Hour, func(_ string, at time.Duration) (float64, bool) {
		return 1, at >= 2*time.Hour && at < 2*time.Hour+10*time.Minute
	})
	rule := "groups: [{name: g, rules: [{alert: Down, expr: synthetic_consecutive_failed_turns >= 3, labels: {severity: page}}]}]"
	if err := os.WriteFile(ruleFile, []byte(rule), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := newBuffer(), newBuffer()
	args := []string{"backtest", "--turns=" + log, "--warm-up=0", "--rules.file=mine=" + ruleFile, "--compare", "--output.dir=" + dir}
	if code := run(t.Context(), args, out, errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	tables, err := os.ReadFile(filepath.Join(dir, "scores.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| mine | Down |", "| p95-last-week |", "| sloth |", "| a | Down | 2026-01-05 02:0"} {
		if !strings.Contains(string(tables), want) {
			t.Errorf("the tables have no %q:\n%s", want, tables)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "scores.json")); err != nil {
		t.Error(err)
	}
}

// TestBacktestOfTurnsOfAConfiguration checks that the SLOs of the configuration judge the turns. Targets may be
// missing in the configuration or in the log.
func TestBacktestOfTurnsOfAConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, cfg := filepath.Join(dir, "turns.jsonl"), filepath.Join(dir, "synthetic.yml")
	writeTurns(t, log, time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), 8*time.Hour, func(string, time.Duration) (float64, bool) { return 1, false })
	text := `
targets: [{name: a, base_url: "http://127.0.0.1:8000/v1"}, {name: gone, base_url: "http://127.0.0.1:8000/v1"}]
slos:
  - {name: strict, sli: ttft, threshold: 100ms, objective: 99%, targets: [a]}
  - {name: of-another, sli: ttft, threshold: 100ms, objective: 99%, targets: [gone]}
`
	if err := os.WriteFile(cfg, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := newBuffer(), newBuffer()
	if code := run(t.Context(), []string{"backtest", "--turns=" + log, "--config.file=" + cfg, "--warm-up=0"}, out, errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	_, pages, _ := strings.Cut(out.String(), "Pages of synthetic:")
	pages, _, _ = strings.Cut(pages, "By alert:")
	if !strings.Contains(pages, "SyntheticSLOFastBurn") || strings.Contains(pages, "| b |") || strings.Contains(pages, "gone") {
		t.Errorf("want pages for the SLO of a only:\n%s", pages)
	}
}

// TestJobsOfALogDivideFalsePages checks that the jobs of a log share the false pages that the configuration allows. The
// number of jobs in the configuration does not matter.
func TestJobsOfALogDivideFalsePages(t *testing.T) {
	t.Parallel()
	cfg := filepath.Join(t.TempDir(), "synthetic.yml")
	text := `
targets: [{name: a, base_url: "http://127.0.0.1:8000/v1"}, {name: c, base_url: "http://127.0.0.1:8000/v1"}, {name: d, base_url: "http://127.0.0.1:8000/v1"}]
regression: {false_pages: 2/30d, page_ratio: 1.7}
`
	if err := os.WriteFile(cfg, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	survey := backtest.Survey{Jobs: []backtest.SurveyedJob{{Key: probe.Key{Target: "a", Workload: "chat"}}, {Key: probe.Key{Target: "b", Workload: "chat"}}}}
	for file, want := range map[string]struct{ falsePages, ratio float64 }{"": {0.25, 1.5}, cfg: {1, 1.7}} {
		flags := &backtestFlags{configFile: file}
		in, err := flags.configured()
		if err != nil {
			t.Fatal(err)
		}
		jobs, _ := in.jobsAndRules(survey)
		if p := in.policy; math.Abs(p.FalsePages-2*want.falsePages) > 1e-9 || p.PageRatio != want.ratio {
			t.Errorf("with the configuration %q the policy of all jobs is %+v", file, p)
		}
		for _, j := range jobs {
			if math.Abs(j.Policy.FalsePages-want.falsePages) > 1e-9 || j.Policy.PageRatio != want.ratio {
				t.Errorf("with the configuration %q the policy of %s is %+v", file, j.Target.Name, j.Policy)
			}
		}
	}
}

func TestBacktestOfTurnsMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, csv := filepath.Join(dir, "turns.jsonl"), filepath.Join(dir, "incidents.csv")
	writeTurns(t, log, time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), time.Hour, func(string, time.Duration) (float64, bool) { return 1, false })
	if err := os.WriteFile(csv, []byte("x,2026-01-05T00:10:00Z,2026-01-05T00:20:00Z,elsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.jsonl")
	if err := os.WriteFile(bad, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	untraced, cfg := filepath.Join(dir, "untraced.jsonl"), filepath.Join(dir, "synthetic.yml")
	line := `{"at":"2026-01-05T00:00:00Z","target":"a","workload":"chat","turn":"first","outcome":"success"}` + "\n"
	for path, text := range map[string]string{
		untraced: line + strings.Replace(line, "00:00:00", "01:00:00", 1),
		cfg:      "targets: [{name: a, base_url: \"http://127.0.0.1:8000/v1\"}]\nslos: [{sli: session, threshold: 5m, objective: 99%}]\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no trace":   {[]string{"--turns=" + untraced, "--warm-up=0", "--config.file=" + cfg}, `--turns: the turn of target "a" and workload "chat" at 2026-01-05T00:00:00Z has no trace_id`},
		"missing":    {[]string{"--turns=none.jsonl"}, "--turns: opening the turn log: stat none.jsonl: no such file"},
		"bad line":   {[]string{"--turns=" + bad}, "bad.jsonl, line 1: \"at\" is missing"},
		"warm-up":    {[]string{"--turns=" + log}, "nothing is left to score; give a longer log or a shorter --warm-up"},
		"early":      {[]string{"--turns=" + log, "--from=2026-01-05 00:30"}, "the warm-up ends at 2026-01-12T00:00:00Z; give a later --from or a shorter --warm-up"},
		"empty":      {[]string{"--turns=" + log, "--warm-up=0", "--from=2026-01-05 02:00"}, "nothing is left to score between 2026-01-05T02:00:00Z and 2026-01-05T00:59:55Z"},
		"target":     {[]string{"--turns=" + log, "--warm-up=0", "--incidents=" + csv}, `line 1 of the incidents: the incident "x" has the target "elsewhere", but the log has only the targets ["a" "b"]`},
		"two":        {[]string{"--turns=" + log, "--tsdb.path=a"}, "give only one of them"},
		"from":       {[]string{"--turns=" + log, "--from=monday"}, `--from: "monday" is not a time`},
		"no --turns": {[]string{log}, "give a log of turns with --turns="},
	} {
		out, errs := newBuffer(), newBuffer()
		code := run(t.Context(), append([]string{"backtest"}, tt.args...), out, errs)
		if code != exitUsage || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%s: exit code %d, %s; want %q", name, code, errs, tt.want)
		}
	}
}
