package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/backtest"
	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/review"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/turnlog"
)

const objectivesConfig = `targets:
  - {name: a, base_url: http://127.0.0.1:1/v1}
  - {name: b, base_url: http://127.0.0.1:1/v1}
workloads: [{name: chat}]
traffic: [{workload: chat, arrival: {rate: 0.1}}]
`

// TestObjectivesOfTurns: of two targets, one is slow at noon. The printed slos are valid, and their comments say
// what the objectives would have done. Days that a sidecar has kept give the same slos.
func TestObjectivesOfTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, state := filepath.Join(dir, "turns.jsonl"), filepath.Join(dir, "state")
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -4)
	writeTurns(t, log, start, 3*24*time.Hour, func(target string, at time.Duration) (float64, bool) {
		if target == "a" && at%(24*time.Hour)/time.Hour == 12 {
			return 5, false
		}
		return 1, false
	})
	keepDays(t, log, state)
	var slos []string
	for source, tt := range map[string]struct {
		args []string
		want []string
	}{
		"turns": {[]string{"--turns=" + log}, []string{
			"# Proposed from a log of turns.\n", "# a/chat: 3 days, judged by days: surer after 28\n",
			"#   ttft         today    99% <= 1s       missed on 3 of 3 days, 3 pages if none is held back\n",
			"#   ttft         proposed 99% <= 2s       missed on 0 of 3 days, 0 pages if none is held back\n",
		}},
		"state": {[]string{"--state.file=" + state}, []string{"#   ttft         today    99% <= 1s       missed on 3 of 3 days\n"}},
	} {
		code, out, errs := runFor(t, append([]string{"objectives"}, tt.args...)...)
		if code != exitOK || errs != "" {
			t.Fatalf("%s: code %d: %s", source, code, errs)
		}
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", source, want, out)
			}
		}
		cfg, err := config.Parse("synthetic.yml", []byte(objectivesConfig+out), dir)
		if err != nil {
			t.Fatalf("%s: the configuration is not valid: %v\n%s", source, err, out)
		}
		if len(cfg.SLOs) != 4 {
			t.Errorf("%s: %d objectives, want two for the TTFT, and two others:\n%s", source, len(cfg.SLOs), out)
		}
		_, list, _ := strings.Cut(out, "\nslos:\n")
		slos = append(slos, list)
	}
	if slos[0] != slos[1] {
		t.Errorf("the turns and the kept days give different objectives:\n%s\n%s", slos[0], slos[1])
	}
}

// keepDays writes the days that a sidecar would have kept of the turns of a log.
func keepDays(t *testing.T, log, state string) {
	t.Helper()
	c := review.NewCounter()
	for _, name := range []string{"a", "b"} {
		job := sink.Job{Objectives: backtest.Objectives()}
		job.Target.Name, job.Workload.Name = name, "chat"
		c.Add(job)
	}
	opened, err := turnlog.Open([]string{log})
	if err != nil {
		t.Fatal(err)
	}
	turns := opened.Read()
	defer turns.Close()
	for turn, err := turns.Next(); err == nil; turn, err = turns.Next() {
		c.Observe(probe.Event(turn.Result()))
	}
	if err := os.WriteFile(state+review.DaysFile, c.Save(true), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestObjectivesOfNothing: mistakes name the remedy and exit with 2.
func TestObjectivesOfNothing(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty, none := file("empty.jsonl", ""), filepath.Join(dir, "state")
	old := strings.TrimSuffix(file("old.days", `{"date":"`+time.Now().UTC().Format(time.DateOnly)+`","target":"a","workload":"chat","turns":5}`+"\n"), ".days")
	if code, _, errs := runFor(t, "objectives", "--prometheus.url=http://127.0.0.1:1"); code != exitFailure || !strings.Contains(errs, "check that --prometheus.url is reachable") {
		t.Errorf("a Prometheus that does not answer: code %d, errors %q", code, errs)
	}
	for args, want := range map[string]string{
		"":                                      "name one source of turns: --turns",
		"--turns=x --prometheus.url=http://p:1": "name one source of turns",
		"turns.jsonl":                           `"turns.jsonl": give a log of turns with --turns=turns.jsonl`,
		"--prometheus.url=127.0.0.1:9090":       "want an address with http:// or https://",
		"--since=soon --turns=x":                `--since="soon": write a time such as 28d`,
		"--turns=" + dir + "/missing":           "no such file",
		"--turns=" + empty:                      "there is no turn in",
		"--state.file=" + none:                  "name the --state.file of synthetic run",
		"--state.file=" + old:                   "days counted by an older version of the sidecar have no latencies",
		"--prometheus.url=http://u:p@127.0.0.1": "without user and password",
	} {
		if code, out, errs := runFor(t, append([]string{"objectives"}, strings.Fields(args)...)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: code %d, output %q, errors %q, want %q", args, code, out, errs, want)
		}
	}
}

// TestObjectivesOfDiscoveredTargets: found targets and models belong to the target of the configuration. It has
// one slo that all of them keep. Targets that the file does not name are left out.
func TestObjectivesOfDiscoveredTargets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "synthetic.yml")
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -4)
	args := []string{"objectives", "--config.file=" + file}
	for log, names := range map[string][]string{"models.jsonl": {`"target":"a"`, `"target":"m/small"`, `"target":"b"`, `"target":"m/large"`}, "others.jsonl": {}} {
		path := filepath.Join(dir, log)
		writeTurns(t, path, start, 3*24*time.Hour, func(target string, _ time.Duration) (float64, bool) {
			return map[string]float64{"a": 1, "b": 3}[target], false
		})
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(strings.NewReplacer(names...).Replace(string(text))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--turns="+path)
	}
	configuration := `targets: [{name: m, base_url: http://127.0.0.1:1/v1, models: "*"}, {name: n, base_url: http://127.0.0.1:1/v1}]
workloads: [{name: chat}]
traffic: [{workload: chat, arrival: {rate: 0.1}}]
`
	slos := "slos: [{name: fast, sli: ttft, threshold: 5s, objective: 99%, targets: [m]}]\n"
	if err := os.WriteFile(file, []byte(configuration+slos), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := runFor(t, args...)
	if code != exitOK {
		t.Fatalf("code %d: %s", code, errs)
	}
	cfg, err := config.Parse("synthetic.yml", []byte(configuration+out), dir)
	if err != nil {
		t.Fatalf("the configuration is not valid: %v\n%s", err, out)
	}
	if o := cfg.SLOs[0]; o.Threshold != 2*time.Second {
		t.Errorf("the slo is %+v, want the one of the larger model:\n%s", o, out)
	}
	if strings.Contains(out, "a/chat") || strings.Count(out, "today    99% <= 5s") != 2 {
		t.Errorf("want two models with the objective of today:\n%s", out)
	}
}

// TestInterruptedObjectives: Ctrl-C is no mistake of the flags.
func TestInterruptedObjectives(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "turns.jsonl")
	writeTurns(t, log, time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), time.Hour, func(string, time.Duration) (float64, bool) { return 1, false })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, source := range []string{"--turns=" + log, "--prometheus.url=http://127.0.0.1:1"} {
		out, errs := newBuffer(), newBuffer()
		if code := run(ctx, []string{"objectives", source}, out, errs); code != exitStopped || errs.String() != "synthetic: interrupted before all turns were read\n" {
			t.Errorf("%s: exit code %d, %q", source, code, errs)
		}
	}
}

func runFor(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}
