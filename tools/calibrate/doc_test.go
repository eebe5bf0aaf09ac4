package main

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"synthetic/tools/splice"
)

const document = "../../docs/background/simulation.md"

// TestDocIsFresh simulates all that the document shows: ten hours of it, in
// some ten seconds of CPU.
func TestDocIsFresh(t *testing.T) {
	switch {
	case runtime.GOARCH != "amd64":
		// Others fuse a multiplication with an addition. That moves a step by a
		// nanosecond, and a full queue by whatever follows.
		t.Skip("the document was written on amd64")
	case raceEnabled || testing.Short():
		t.Skip("takes long")
	}
	runs, err := play()
	if err != nil {
		t.Fatal(err)
	}
	for name, fit := range map[string]bool{document: false, beside(document, "-fit.md"): true} {
		have := read(t, name)
		want, err := splice.Replace(have, tool, parts(fit, runs))
		if err != nil {
			t.Fatal(err)
		}
		fresh(t, name, have, want)
	}
	fresh(t, beside(document, ".csv"), read(t, beside(document, ".csv")), seriesCSV(runs))
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fresh names the first line of a file that is not as it should be.
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
