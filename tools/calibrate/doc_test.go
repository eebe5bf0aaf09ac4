package main

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"synthetic/tools/splice"
)

const root = "../../"

// TestDocIsFresh simulates ten hours of the deployments in about ten seconds of CPU time.
func TestDocIsFresh(t *testing.T) {
	switch {
	case runtime.GOARCH != "amd64":
		// Other architectures fuse a multiplication with an addition. That shifts a step by
		// a nanosecond, and everything after it in a full queue.
		t.Skip("the files were written on amd64")
	case raceEnabled || testing.Short():
		t.Skip("takes long")
	}
	runs, err := play()
	if err != nil {
		t.Fatal(err)
	}
	have := read(t, root+page)
	want, err := splice.Replace(have, tool, pageParts(runs))
	if err != nil {
		t.Fatal(err)
	}
	fresh(t, page, have, want)
	fresh(t, figuresFile, read(t, root+figuresFile), seriesCSV(runs))
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fresh fails with the first line of a file that differs.
func fresh(t *testing.T, name, have, want string) {
	t.Helper()
	if have == want {
		return
	}
	was, is := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			t.Fatalf("%s is stale: run \"make calibrate\"\nline %d has  %s\nit should be %s", name, i+1, was[i], is[i])
		}
	}
	t.Fatalf("%s is stale: run \"make calibrate\"", name)
}
