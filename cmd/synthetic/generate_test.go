package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGenerateRefuses(t *testing.T) {
	dir := t.TempDir()
	config := configFor(t, "", map[string]string{"a": "http://127.0.0.1:1"})
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"nonsense"}, exitUsage, `expected command but got "nonsense"`},
		{[]string{"rules", "--runbook-url=runbooks"}, exitUsage, "--runbook-url=runbooks is no http(s) address"},
		{[]string{"rules", "--dashboard-url=https:///d"}, exitUsage, "--dashboard-url=https:///d is no http(s) address"},
		{[]string{"rules", "--output.dir=" + file}, exitFailure, "not a directory; choose another --output.dir"},
		{[]string{"dashboards", "--config.file=" + dir}, exitUsage, "is a directory"},
	} {
		args := append([]string{"generate"}, c.args...)
		for _, usual := range []string{"--config.file=" + config, "--output.dir=" + dir} {
			if name, _, _ := strings.Cut(usual, "="); !strings.Contains(strings.Join(c.args, " "), name) {
				args = append(args, usual)
			}
		}
		var out, errs strings.Builder
		code := run(t.Context(), args, &out, &errs)
		if code != c.code || !strings.Contains(errs.String(), c.want) || out.Len() > 0 {
			t.Errorf("%q: code %d, output %q, errors %q, want %d and %q", c.args, code, out.String(), errs.String(), c.code, c.want)
		}
	}
}

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

// TestGenerateDocuments prints the documents that need no configuration.
func TestGenerateDocuments(t *testing.T) {
	for args, want := range map[string]string{
		"schema": "base_url", "schema plan": "variants", "reference config": "`targets`", "reference plan": "`variants`", "metrics": "synthetic_turns_total",
	} {
		var out, errs strings.Builder
		if code := run(t.Context(), strings.Fields("generate "+args), &out, &errs); code != exitOK || out.Len() < 1000 || !strings.Contains(out.String(), want) {
			t.Errorf("%q: code %d, errors %s, output\n%s", args, code, errs.String(), out.String())
		}
	}
}

// TestTwoInstallationsInOneGrafana: the prefix of the dashboards is that of the links in the alerts; what Grafana or
// Prometheus would refuse is refused before.
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
	for _, bad := range []string{"--uid-prefix=a/b", "--uid-prefix=staging_", "--uid-prefix=" + strings.Repeat("a", 21), "--keep-labels=not-a-label", "--keep-labels=target"} {
		var out, errs strings.Builder
		if code := run(t.Context(), []string{"generate", "dashboards", "--config.file=" + config, "--output.dir=" + dir, bad}, &out, &errs); code != exitUsage {
			t.Errorf("%s: code %d, errors %s", bad, code, errs.String())
		}
	}
}
