package main

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"synthetic/tools/splice"
)

const document = "../../docs/simulation.md"

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
	runs, err := play(seedsOfDoc)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	want, err := splice.Replace(string(have), tool, parts(runs))
	if err != nil {
		t.Fatal(err)
	}
	if string(have) == want {
		return
	}
	was, is := strings.Split(string(have), "\n"), strings.Split(want, "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			t.Fatalf("%s is stale: run \"make calibrate\"\nline %d has  %s\nit should be %s", document, i+1, was[i], is[i])
		}
	}
	t.Fatalf("%s is stale: run \"make calibrate\"", document)
}
