package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is a linked module, or the standard library.
type module struct {
	path, version string
	// dir is the module's root directory, packages the directories of its linked packages.
	dir      string
	packages map[string]bool
}

// listed is the output of "go list -deps" for a package.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// linked returns the modules that a command links on any of the platforms, sorted by path.
// The standard library comes first.
func linked(command string, platforms []string) ([]module, error) {
	root, err := goCommand("", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	found := map[string]module{}
	for _, platform := range platforms {
		out, err := goCommand(platform, "list", "-deps", "-json=Dir,Standard,Module", command)
		if err != nil {
			return nil, err
		}
		if err := collect(found, out); err != nil {
			return nil, err
		}
	}
	// It has the version of the builder's Go; the licence has not changed for a long time.
	std := module{path: "the Go standard library", dir: strings.TrimSpace(string(root))}
	byPath := func(a, b module) int { return strings.Compare(a.path, b.path) }
	return append([]module{std}, slices.SortedFunc(maps.Values(found), byPath)...), nil
}

// collect adds the modules of the packages in the output of go list.
func collect(found map[string]module, out []byte) error {
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the output of go list: %w", err)
		}
		if p.Standard || p.Module == nil {
			continue
		}
		if p.Module.Main {
			if err := vendored(found, p.Dir); err != nil {
				return err
			}
			continue
		}
		m, ok := found[p.Module.Path]
		if !ok {
			m = module{path: p.Module.Path, version: p.Module.Version, dir: p.Module.Dir, packages: map[string]bool{}}
			found[m.path] = m
		}
		m.packages[p.Dir] = true
	}
}

// vendored adds npm packages that the source contains in directories third_party/NAME, with
// their package.json and licence.
func vendored(found map[string]module, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "third_party", "*", "package.json"))
	for _, file := range files {
		text, bad := os.ReadFile(file)
		var p struct{ Name, Version string }
		if bad == nil {
			bad = json.Unmarshal(text, &p)
		}
		if bad != nil {
			return fmt.Errorf("reading a vendored package: %w", bad)
		}
		m := module{path: "npm:" + p.Name, version: p.Version, dir: filepath.Dir(file)}
		found[m.path] = m
	}
	return err
}

// folders returns the directories whose licences apply to the linked packages: from the
// root of the module to each package.
func (m module) folders() []string {
	all := map[string]bool{m.dir: true}
	for dir := range m.packages {
		for ; len(dir) > len(m.dir); dir = filepath.Dir(dir) {
			all[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// goCommand runs the go command for a platform GOOS/GOARCH, or "" for this one.
func goCommand(platform string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = os.Environ()
	if goos, goarch, ok := strings.Cut(platform, "/"); ok {
		cmd.Env = append(cmd.Env, "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s for %q: %w", strings.Join(args, " "), platform, err)
	}
	return out, nil
}
