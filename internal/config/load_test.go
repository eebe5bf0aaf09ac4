package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.yml")
	for path, want := range map[string]string{
		missing: missing + ": cannot be read (no such file or directory): name a readable YAML file",
		dir:     dir + ": cannot be read (is a directory): name a readable YAML file",
	} {
		_, err := Load(path)
		if err == nil || err.Error() != want {
			t.Errorf("Load(%q): got %v, want %s", path, err, want)
		}
	}
}

func TestLoadTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.yml")
	if err := os.WriteFile(path, bytes.Repeat([]byte("#\n"), 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path)
	if err == nil || !strings.Contains(err.Error(), "more than a configuration can have: name a YAML file of at most 4 MiB") {
		t.Errorf("got %v", err)
	}
}

// TestPaths checks that paths are relative to the configuration file, and that a missing key file is a
// mistake.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "synthetic.yml")
	text := "targets:\n  - {base_url: http://a:8000, api_key_file: key}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Targets[0].Key.File; got != key {
		t.Errorf("key file: got %q, want %q", got, key)
	}
}

// TestOtherKind: a plan in place of a configuration, and the reverse, is named instead of listed key by key.
func TestOtherKind(t *testing.T) {
	dir := t.TempDir()
	plan, configuration := filepath.Join(dir, "plan.yml"), filepath.Join(dir, "synthetic.yml")
	for name, text := range map[string]string{
		plan:          "title: a\nvariants: [{base_url: \"http://a/v1\", model: m}]\nlevels: {concurrency: [1]}\n",
		configuration: "targets: [{base_url: \"http://a/v1\", model: m}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Load(plan)
	if want := plan + ": is a plan of a sweep, not a configuration: run it with synthetic sweep --plan.file=" + plan; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = LoadPlan(configuration, nil)
	if want := configuration + ": is a configuration, not a plan of a sweep: run it with synthetic run --config.file=" + configuration; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := LoadPlan(plan, nil); err != nil {
		t.Error(err)
	}
}
