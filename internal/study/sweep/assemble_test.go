package sweep

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
	"synthetic/internal/study/runs"
)

// TestDeploymentTable puts the plan's lines before those from the deployment, and joins lines that all variants have.
func TestDeploymentTable(t *testing.T) {
	plan := fleet.Plan{
		Variants: []fleet.Variant{
			{Name: "a"},
			{Name: "b", Deployment: []serverside.Setting{{Name: "max-num-seqs", Value: "64", Source: "plan"}}},
		},
		About: fleet.About{Deployment: []serverside.Setting{{Name: "Model", Value: "Llama", Source: "plan"}}},
	}
	line := func(variant, name, value string) runs.Parameter {
		return runs.Parameter{Name: name, Value: value, Source: "/version", Variant: variant}
	}
	got := deployment(plan, []runs.Parameter{
		line("a", "Model", "llama-70b"), line("a", "Server version", "1.0"),
		line("b", "Model", "llama-70b"), line("b", "Server version", "1.1"),
	})
	want := []runs.Parameter{
		{Name: "Model", Value: "Llama", Source: "plan"},
		{Name: "max-num-seqs", Value: "64", Source: "plan", Variant: "b"},
		line("", "Model (as served)", "llama-70b"),
		line("a", "Server version", "1.0"), line("b", "Server version", "1.1"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// TestReplayIsNamedByContent: runs of one file can be compared wherever it was.
func TestReplayIsNamedByContent(t *testing.T) {
	value := func(text string) string {
		path := filepath.Join(t.TempDir(), "set.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w := workloadOf(fleet.Plan{Workload: workload.Spec{Trace: workload.Trace{File: path}}})
		for _, p := range w.Parameters {
			if p.Name == "trace" {
				return p.Value
			}
		}
		return ""
	}
	if a, b := value("x"), value("x"); a != b || a == "" {
		t.Errorf("one content is named %q and %q", a, b)
	}
	if value("x") == value("y") {
		t.Error("two contents have one name")
	}
}
