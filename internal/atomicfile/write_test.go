package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, tt := range []struct {
		text string
		perm fs.FileMode
	}{{"the first, which is long", 0o644}, {"the second", 0o600}, {"", 0o644}} {
		if err := Write(path, []byte(tt.text), tt.perm); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || string(data) != tt.text {
			t.Errorf("read %q (%v), want %q", data, err, tt.text)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != tt.perm {
			t.Errorf("mode %v (%v), want %v", info.Mode().Perm(), err, tt.perm)
		}
	}
	onlyFile(t, dir, "file")
}

// TestAReaderKeepsTheOldFile checks that an open file keeps its old content, which shows that
// the file was replaced and not overwritten.
func TestAReaderKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Write(path, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 8)
	if n, _ := f.Read(text); string(text[:n]) != "old" {
		t.Errorf("the open file has %q, want the old text", text[:n])
	}
}

func TestErrorsLeaveNothingBeside(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.Mkdir(taken, 0o755); err != nil { // a directory cannot be replaced by a file
		t.Fatal(err)
	}
	if err := Write(taken, []byte("x"), 0o644); err == nil {
		t.Error("a file took the name of a directory")
	}
	onlyFile(t, dir, "taken")
	if err := Write(filepath.Join(dir, "none", "file"), []byte("x"), 0o644); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("to a directory that is not there: %v", err)
	}
}

func onlyFile(t *testing.T, dir, want string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != want {
		t.Errorf("%v in the directory (%v), want %q alone", entries, err, want)
	}
}
