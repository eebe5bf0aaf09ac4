package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckDiscovers: --discover prints the targets of each group and fails for a group
// whose discovery fails.
func TestCheckDiscovers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes six seconds")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"t.json":  `[{"targets": ["a:1", "b c"]}]`,
		"ok.yml":  "discovery: [{name: pods, file_sd_configs: [{files: [t.json]}]}]",
		"bad.yml": "discovery: [{name: gone, file_sd_configs: [{files: [nowhere.json]}]}]",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		file   string
		code   int
		stdout string
	}{
		{"ok.yml", 0, "pods/a-1\thttp://a:1/v1\npods: 1 target\n"},
		{"bad.yml", 1, "gone: did not answer in 3s\n"},
	} {
		out := newBuffer()
		args := []string{"check", "--discover=3s", filepath.Join(dir, tc.file)}
		if code := run(t.Context(), args, out, newBuffer()); code != tc.code || !strings.HasSuffix(out.String(), tc.stdout) {
			t.Errorf("%s: exit code %d, want %d\n%s", tc.file, code, tc.code, out.String())
		}
	}
}
