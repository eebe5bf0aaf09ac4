package sidecar

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/fleet"
)

// mount lays out files as Kubernetes does: each file is a link through ..data, which a new version
// replaces.
type mount struct {
	dir     string
	version int
}

func (m *mount) write(t *testing.T, files map[string]string) {
	t.Helper()
	m.version++
	data := fmt.Sprintf("..v%d", m.version)
	if err := os.Mkdir(filepath.Join(m.dir, data), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(m.dir, data, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(m.dir, name)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	next := filepath.Join(m.dir, "..next")
	if err := os.Symlink(data, next); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(m.dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

func configOf(targets ...string) string {
	text := "targets:\n"
	for _, name := range targets {
		text += fmt.Sprintf("  - {name: %s, base_url: 'http://%s.example/v1'}\n", name, name)
	}
	return text
}

// TestAChangedFileIsLoaded: each change of the file or of a neighbouring file is loaded once. A file with
// mistakes changes nothing.
func TestAChangedFileIsLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mount{dir: t.TempDir()}
		m.write(t, map[string]string{"synthetic.yml": configOf("a")})
		s, err := New(Options{ConfigFile: filepath.Join(m.dir, "synthetic.yml"), AutoReload: 15 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Load(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.followFile(ctx, nil) }()

		for _, step := range []struct {
			what    string
			files   map[string]string
			loads   bool
			targets int
		}{
			{"nothing", nil, false, 1},
			{"a second target", map[string]string{"synthetic.yml": configOf("a", "b")}, true, 2},
			{"a mistake", map[string]string{"synthetic.yml": "targets: 1"}, false, 2},
			{"a corrected mistake", map[string]string{"synthetic.yml": configOf("a", "b")}, true, 2},
			{"a neighbouring file", map[string]string{"synthetic.yml": configOf("a", "b"), "talk.jsonl": "{}"}, true, 2},
		} {
			if step.files != nil {
				m.write(t, step.files)
			}
			before := inForce(s)
			time.Sleep(20 * time.Second)
			synctest.Wait()
			after := inForce(s)
			if loaded := after != before; loaded != step.loads || len(after.Targets) != step.targets {
				t.Errorf("%s: loaded = %v with %d targets, want %v with %d", step.what, loaded, len(after.Targets), step.loads, step.targets)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestAPipeIsRead: a configuration that can be read only once, from a pipe, is loaded.
func TestAPipeIsRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "synthetic.yml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte(configOf("a")), 0) }()
	s, err := New(Options{ConfigFile: pipe})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Load(); err != nil {
		t.Error(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if s.fileChanged() {
		t.Error("a pipe counts as changed after it was read")
	}
}

// inForce returns the fleet in force.
func inForce(s *Sidecar) *fleet.Fleet {
	s.loading.Lock()
	defer s.loading.Unlock()
	return s.written
}
