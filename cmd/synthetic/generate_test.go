package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGenerateWrites(t *testing.T) {
	config := configFor(t, "", map[string]string{"a": "http://127.0.0.1:1"})
	dir := filepath.Join(t.TempDir(), "new", "deep")
	for kind, files := range map[string][]string{
		"rules":      {"synthetic-rules.yml", "prometheusrule.yaml"},
		"dashboards": {"overview.json", "target.json", "prober.json"},
	} {
		var out, errs strings.Builder
		if code := run(t.Context(), []string{"generate", kind, "--config.file=" + config, "--output.dir=" + dir}, &out, &errs); code != exitOK {
			t.Fatalf("%s: code %d, errors %s", kind, code, errs.String())
		}
		for _, name := range files {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err != nil || info.Size() == 0 || !strings.Contains(out.String(), "wrote "+path+"\n") {
				t.Errorf("%s: %v; output:\n%s", path, err, out.String())
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".synthetic-*")); len(left) > 0 {
		t.Errorf("%v were left behind", left)
	}
}

// TestGenerateDocs writes the documents that need no configuration, as they are in docs/.
func TestGenerateDocs(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "reference"), 0o755); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"generate", "docs", dir}, &out, &errs); code != exitOK {
		t.Fatalf("code %d, errors %s", code, errs.String())
	}
	for _, file := range []string{"synthetic.schema.json", "plan.schema.json", "reference/configuration.md", "reference/plan.md", "reference/metrics.md"} {
		written, err := os.ReadFile(filepath.Join(dir, file))
		kept, _ := os.ReadFile(filepath.Join("../../docs", file))
		if err != nil || string(written) != string(kept) {
			t.Errorf("%s is stale: run make write (%v)", file, err)
		}
	}
}

// TestTwoInstallationsInOneGrafana: links in alerts have the same prefix as the dashboards.
func TestTwoInstallationsInOneGrafana(t *testing.T) {
	config, dir := configFor(t, "", map[string]string{"a": "http://127.0.0.1:1"}), t.TempDir()
	for _, args := range [][]string{
		{"rules", "--dashboard-url=https://grafana.example.org/d/staging-", "--keep-labels=cluster"},
		{"dashboards", "--uid-prefix=staging-", "--keep-labels=cluster"},
	} {
		var out, errs strings.Builder
		if code := run(t.Context(), append([]string{"generate", args[0], "--config.file=" + config, "--output.dir=" + dir}, args[1:]...), &out, &errs); code != exitOK {
			t.Fatalf("%q: code %d, errors %s", args, code, errs.String())
		}
	}
	rules, _ := os.ReadFile(filepath.Join(dir, "synthetic-rules.yml"))
	board, _ := os.ReadFile(filepath.Join(dir, "target.json"))
	if !strings.Contains(string(rules), "https://grafana.example.org/d/staging-synthetic-target?") || !strings.Contains(string(board), `"uid": "staging-synthetic-target"`) {
		t.Error("the alerts do not link to the dashboard of their installation")
	}
}
