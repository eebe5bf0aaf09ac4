package reporttest

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
)

// Turns are those that sweeps kept in some directories, in the order in which they
// were sent.
func Turns(t testing.TB, dirs ...string) (all []turnlog.Turn) {
	t.Helper()
	var paths []string
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, runfile.TurnsFile))
	}
	log, err := turnlog.Open(paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	merged := log.Read()
	defer merged.Close()
	for {
		turn, err := merged.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *turn)
	}
}
