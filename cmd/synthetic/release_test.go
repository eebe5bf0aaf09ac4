package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		made := strings.HasPrefix(f, "bin/texts/") && strings.Contains(string(makefile), "> $(TEXTS)/"+strings.TrimSuffix(filepath.Base(f), "*"))
		if err != nil || len(found) == 0 && !made {
			t.Errorf("%s is part of a release but does not exist (%v)", f, err)
		}
	}
}

// TestInstall: "make install" honours PREFIX and DESTDIR, compiles nothing, and "make uninstall"
// removes every file.
func TestInstall(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not installed")
	}
	dir := t.TempDir()
	binary, root := filepath.Join(dir, "built"), filepath.Join(dir, "root")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\necho \"synthetic $*\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	makeTarget := func(target string) {
		t.Helper()
		cmd := exec.Command("make", target, "GO=false", "PREFIX=/opt/synthetic", "DESTDIR="+root, "BIN="+binary, "TEXTS="+filepath.Join(dir, "texts"))
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make %s: %v\n%s", target, err, out)
		}
	}
	installed := func() map[string]os.FileMode {
		files := map[string]os.FileMode{}
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			files[strings.TrimPrefix(path, root+"/opt/synthetic/")] = info.Mode()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	makeTarget("install")
	if diff := cmp.Diff(map[string]os.FileMode{
		"bin/synthetic": 0o755, "lib/systemd/system/synthetic.service": 0o644, "share/man/man1/synthetic.1.gz": 0o644,
		"share/bash-completion/completions/synthetic": 0o644, "share/zsh/site-functions/_synthetic": 0o644,
	}, installed()); diff != "" {
		t.Errorf("installed files (-want +got):\n%s", diff)
	}
	unit, err := os.ReadFile(filepath.Join(root, "opt/synthetic/lib/systemd/system/synthetic.service"))
	if err != nil || !strings.Contains(string(unit), "\nExecStart=/opt/synthetic/bin/synthetic run ") {
		t.Errorf("the unit does not start the installed program (%v):\n%s", err, unit)
	}
	makeTarget("uninstall")
	if left := installed(); len(left) > 0 {
		t.Errorf("files are left: %v", left)
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
