package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestReleasedFiles: the files of a release exist, or "make release-texts" writes them.
// "make release-check" checks the rest with goreleaser.
func TestReleasedFiles(t *testing.T) {
	type file struct{ Src, Type string }
	var release struct {
		Archives []struct{ Files []file }
		NFPMs    []struct {
			Contents []file
			Scripts  map[string]string
		}
	}
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &release); err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range append(release.Archives[0].Files, release.NFPMs[0].Contents...) {
		if f.Type != "dir" {
			files = append(files, f.Src)
		}
	}
	for _, script := range release.NFPMs[0].Scripts {
		files = append(files, script)
	}
	makefile, err := os.ReadFile("../../release.mk")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		found, err := filepath.Glob(filepath.Join("../..", f))
		made := strings.HasPrefix(f, "bin/texts/") && strings.Contains(string(makefile), "> "+strings.TrimSuffix(f, "*"))
		if err != nil || len(found) == 0 && !made {
			t.Errorf("%s is part of a release but does not exist (%v)", f, err)
		}
	}
}

// TestUnitRuns: the program accepts the flags of the systemd unit.
func TestUnitRuns(t *testing.T) {
	unit, err := os.ReadFile("../../deploy/systemd/synthetic.service")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(unit), "\nExecStart=")
	line, _, _ = strings.Cut(line, "\n")
	args := append(strings.Fields(line)[1:], "--help")
	var out, complaint bytes.Buffer
	if code := run(t.Context(), args, &out, &complaint); code != exitOK || !strings.Contains(out.String(), "usage: synthetic run") {
		t.Errorf("%v: exit code %d: %s", args, code, &complaint)
	}
}
