package watch

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestArchive checks that an archive is the same after a round trip, that a damaged one changes nothing, and how large one
// is.
func TestArchive(t *testing.T) {
	f := learned(8, 15*time.Second)
	archive := maps.Collect(f.Histories())[f.key()]
	if again := maps.Collect(f.copy().Histories())[f.key()]; !bytes.Equal(again, archive) {
		t.Errorf("a round trip makes %d bytes of %d", len(again), len(archive))
	}
	if n := len(archive); n > 150_000 {
		t.Errorf("a week of a job needs %d bytes", n)
	}
	for name, data := range map[string][]byte{
		"empty": {},
		"cut":   archive[:1000],
		"text":  []byte("no gob"),
	} {
		j := newJob(f.job)
		if err := j.restoreArchive(data); err == nil || j.signals[0].Usual.started() || len(j.signals[0].History.Turns) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ text, want string }{
		"damaged":     {`{"version": 6,`, "delete the file to start learning again"},
		"of tomorrow": {`{"version": 99}`, "is of version 99, this binary reads 6"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if f, err := ReadFile(filepath.Join(dir, "none")); err != nil || len(f.Jobs) != 0 {
		t.Errorf("a file that does not exist: %+v, %v", f, err)
	}
	if err := (File{}).WriteFile(filepath.Join(dir, "missing", "state.json")); err == nil {
		t.Error("no error for a directory that does not exist")
	}
	path := filepath.Join(dir, "state.json")
	f := newFeed(nil)
	f.now = f.now.In(time.FixedZone("east", 3600))
	if err := f.States().WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if back, err := ReadFile(path); err != nil || len(back.Jobs) != 1 || back.Jobs[0].Target != "a" {
		t.Errorf("read %+v, %v", back, err)
	}
	if text, _ := os.ReadFile(path); !strings.Contains(string(text), `"saved":"2026-01-05T00:00:00Z"`) {
		t.Errorf("the time is not saved as UTC: %s", text)
	}
}
