package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-jsonnet"
	"github.com/prometheus/prometheus/model/rulefmt"
	"go.yaml.in/yaml/v3"
)

// TestMixin adds labels and tags to the mixin as users do, and compares the result with the
// rules and dashboards of the same configuration.
func TestMixin(t *testing.T) {
	dir := t.TempDir()
	for _, kind := range []string{"mixin", "rules", "dashboards"} {
		var out, errs strings.Builder
		if code := run(t.Context(), []string{"generate", kind, "--config.file=../../examples/synthetic.yml", "--output.dir=" + dir}, &out, &errs); code != exitOK {
			t.Fatal(errs.String())
		}
	}
	vm := jsonnet.MakeVM()
	vm.Importer(&jsonnet.FileImporter{JPaths: []string{dir}})
	text, err := vm.EvaluateAnonymousSnippet("use.jsonnet", `
		local mixin = (import 'mixin.libsonnet') + { _config+:: { alertLabels: { team: 'llm' }, dashboardTags: ['team'] } };
		{ alerts: mixin.prometheusAlerts.groups, rules: mixin.prometheusRules.groups, dashboards: mixin.grafanaDashboards }`)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Alerts, Rules []struct {
			Rules []struct {
				Record, Alert, Expr string
				Labels              map[string]string
			}
		}
		Dashboards map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	exprs := map[string]int{}
	for _, g := range append(got.Alerts, got.Rules...) {
		for _, r := range g.Rules {
			exprs[r.Alert+r.Record+r.Expr]++
			if r.Alert != "" && r.Labels["team"] != "llm" {
				t.Errorf("%s has the labels %v", r.Alert, r.Labels)
			}
		}
	}
	plain, err := os.ReadFile(filepath.Join(dir, "synthetic-rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var groups rulefmt.RuleGroups
	if err := yaml.Unmarshal(plain, &groups); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			want[r.Alert+r.Record+r.Expr]++
		}
	}
	if diff := cmp.Diff(want, exprs); diff != "" || len(want) == 0 {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != len(got.Dashboards) {
		t.Fatalf("%d dashboards, want %d (%v)", len(got.Dashboards), len(files), err)
	}
	for _, file := range files {
		var board map[string]any
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &board)
		}
		if err != nil {
			t.Fatal(err)
		}
		board["tags"] = []any{"synthetic", "team"}
		if diff := cmp.Diff(board, got.Dashboards[filepath.Base(file)]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}
