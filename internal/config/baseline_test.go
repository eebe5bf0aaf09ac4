package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/study/runfile"
)

// TestBaseline chooses a level of a benchmark in every unambiguous way.
func TestBaseline(t *testing.T) {
	const file = "testdata/run.json"
	for name, tc := range map[string]struct {
		target, keys string
		variant      string
		level        float64
	}{
		"both written":         {"a", "baseline_variant: kv_aware, baseline_level: 20", "kv_aware", 20},
		"called as the target": {"round_robin", "baseline_level: 10", "round_robin", 10},
		"its own load":         {"round_robin", "arrival: {process: closed, concurrency: 20}", "round_robin", 20},
		"written, not its own": {"round_robin", "baseline_level: 10, arrival: {process: closed, concurrency: 20}", "round_robin", 10},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf("targets: [{name: %s, base_url: http://a}]\ntraffic: [{baseline_file: %s, %s}]\n", tc.target, file, tc.keys)
			cfg, err := Parse("synthetic.yml", []byte(text), "")
			if err != nil {
				t.Fatal(err)
			}
			if len(cfg.Jobs) != 1 || cfg.Jobs[0].Benchmark == nil {
				t.Fatalf("%d jobs: %+v", len(cfg.Jobs), cfg.Jobs)
			}
			got := cfg.Jobs[0].Benchmark
			if got.Variant != tc.variant || got.Level != tc.level || got.Run != "testdata" || got.Kind != string(runfile.Concurrency) {
				t.Errorf("got %q of %q at %s %g, want %q at %g", got.Variant, got.Run, got.Kind, got.Level, tc.variant, tc.level)
			}
			if b := got.Figures[0][0]; !b.Typical.OK || b.Samples.V != 100 {
				t.Errorf("TTFT of first turns: %+v, want a typical value of 100 turns", b)
			}
		})
	}
}

// TestLearned checks which kinds of turn still learn their baseline.
func TestLearned(t *testing.T) {
	pooled := filepath.Join(t.TempDir(), "old.json")
	if err := os.WriteFile(pooled, []byte(`{"levels": [{"concurrency": 5, "mode": "x", "ttft_p50_ms": 250}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	both := []probe.TurnKind{probe.First, probe.Followup}
	for name, tc := range map[string]struct {
		keys string
		want []probe.TurnKind
	}{
		"a run":                   {"traffic: [{baseline_file: testdata/run.json, baseline_variant: kv_aware, baseline_level: 20}]", nil},
		"a report":                {"traffic: [{baseline_file: " + pooled + "}]", both},
		"a report, turns are one": {"workloads: [{turns: {max: 1}}]\ntraffic: [{baseline_file: " + pooled + "}]", both[:1]},
	} {
		cfg, err := Parse("synthetic.yml", []byte("targets: [{base_url: http://a}]\n"+tc.keys), "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := cfg.Jobs[0].Benchmark.Learned; !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q are learned, want %q", name, got, tc.want)
		}
	}
}

// TestBaselineOfSeveralTargets checks that each job of an entry has its own baseline.
func TestBaselineOfSeveralTargets(t *testing.T) {
	cfg, err := Parse("synthetic.yml", []byte(`
targets: [{name: round_robin, base_url: "http://a"}, {name: kv_aware, base_url: "http://b"}]
traffic: [{baseline_file: testdata/run.json, baseline_level: 20}]
`), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Jobs) != 2 {
		t.Fatalf("%d jobs, want 2", len(cfg.Jobs))
	}
	for _, j := range cfg.Jobs {
		if b := j.Benchmark; b == nil || b.Variant != j.Target.Name {
			t.Errorf("%s is compared with %+v", j.Target.Name, b)
		}
	}
}

// TestTimezone checks that the time zone of a target or group replaces the zone of the file, and that
// weekly windows are on this clock.
func TestTimezone(t *testing.T) {
	cfg, err := Parse("synthetic.yml", []byte(`
timezone: Europe/Berlin
targets: [{name: a, base_url: "http://a"}, {name: b, base_url: "http://b", timezone: America/Los_Angeles}]
discovery:
  - {name: g, dns_sd_configs: [{names: [x], type: A, port: 80}], target: {timezone: Asia/Tokyo}}
  - {name: h, dns_sd_configs: [{names: [y], type: A, port: 80}]}
changes: [{weekly: sunday 02:00 2h}]
`), "")
	if err != nil {
		t.Fatal(err)
	}
	summer := time.Date(2026, 7, 5, 0, 0, 0, 0, time.UTC) // a Sunday
	for i, want := range []struct {
		zone  string
		start time.Time
	}{
		{"Europe/Berlin", summer}, {"America/Los_Angeles", summer.Add(9 * time.Hour)},
		{"Asia/Tokyo", summer.Add(-7 * time.Hour)}, {"Europe/Berlin", summer},
	} {
		j := cfg.Jobs[i]
		if got := j.Location.String(); got != want.zone {
			t.Errorf("%s: zone %s, want %s", j.Target.Name, got, want.zone)
		}
		if w := j.Changes[0]; w.Covers(want.start.Add(-1)) || !w.Covers(want.start) || !w.Covers(want.start.Add(2*time.Hour-1)) || w.Covers(want.start.Add(2*time.Hour)) {
			t.Errorf("%s: the window is not the two hours from %s", j.Target.Name, want.start)
		}
	}
	if cfg, err = Parse("", []byte(exampleTargets), ""); err != nil || cfg.Jobs[0].Location != nil {
		t.Errorf("without timezone: %v, error %v", cfg.Jobs[0].Location, err)
	}
}

func TestChanges(t *testing.T) {
	cfg, err := Parse("synthetic.yml", []byte(`
targets: [{name: a, base_url: "http://a"}, {name: b, base_url: "http://b"}]
changes:
  - {targets: [a], start: 2026-12-01T10:00:00Z, end: "2026-12-01T12:30:00+01:00", relearn: true}
  - weekly: tuesday 23:30 2h
`), "")
	if err != nil {
		t.Fatal(err)
	}
	once := sink.Change{
		From: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC), To: time.Date(2026, 12, 1, 11, 30, 0, 0, time.UTC), Relearn: true,
	}
	from := time.Date(1970, 1, 6, 23, 30, 0, 0, time.UTC)
	weekly := sink.Change{From: from, To: from.Add(2 * time.Hour), Weekly: true}
	if from.Weekday() != time.Tuesday {
		t.Fatalf("the sixth of January 1970 was a %s", from.Weekday())
	}
	for i, want := range [][]sink.Change{{once, weekly}, {weekly}} {
		if diff := cmp.Diff(want, cfg.Jobs[i].Changes); diff != "" {
			t.Errorf("windows of %s (-want +got):\n%s", cfg.Jobs[i].Target.Name, diff)
		}
	}
}
