package reporttest

import (
	"path/filepath"
	"testing"

	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
)

// Turns returns the turns that sweeps stored in some directories, in the order of their
// start.
func Turns(t testing.TB, dirs ...string) (all []turnlog.Turn) {
	t.Helper()
	var paths []string
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, runfile.TurnsFile))
	}
	log, err := turnlog.Open(paths)
	if err != nil {
		t.Fatal(err)
	}
	merged := log.Read()
	defer merged.Close()
	if err := turnlog.Next(merged.Next).Each(func(turn *turnlog.Turn) error {
		all = append(all, *turn)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}
