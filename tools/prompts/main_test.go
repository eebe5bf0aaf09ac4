package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/probe/workload"
)

// TestPlanHasTheSet: the committed file is what the command makes by default.
func TestPlanHasTheSet(t *testing.T) {
	var made bytes.Buffer
	if err := run(nil, &made); err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../plans/003-prompts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made.Bytes(), have) {
		t.Error("plans/003-prompts.jsonl is stale: run `make generate`")
	}
}

// TestSet replays the default set: its lengths, and that no two begin alike.
func TestSet(t *testing.T) {
	var made bytes.Buffer
	if err := run(nil, &made); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "set.jsonl")
	if err := os.WriteFile(path, made.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := workload.NewSource(workload.Spec{ConversationsFile: path}, 0)
	if err != nil {
		t.Fatal(err)
	}
	begin := map[string]bool{}
	shortest, longest, sum := 1<<30, 0, 0
	const count = 16
	for range count {
		c := source.Next()
		if c.Turns != 1 || len(c.Opening) != 1 {
			t.Fatalf("%d turns, %d messages, want one of each", c.Turns, len(c.Opening))
		}
		text := c.Opening[0].Content
		begin[strings.Fields(text)[0]] = true
		tokens := (len(text)+3)/4 + 7 // as the simulated deployment counts them
		shortest, longest, sum = min(shortest, tokens), max(longest, tokens), sum+tokens
	}
	if len(begin) != count {
		t.Errorf("%d different first words of %d prompts: some share a prefix", len(begin), count)
	}
	for what, v := range map[string][2]int{"shortest": {shortest, 3612}, "longest": {longest, 8000}, "mean": {sum / count, 5806}} {
		if d := v[0] - v[1]; d < -4 || d > 4 {
			t.Errorf("the %s has %d tokens, want %d", what, v[0], v[1])
		}
	}
}

func TestFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-count=0":                  "at least one prompt",
		"-shortest=5":               "the template alone has 7 tokens",
		"-shortest=100 -longest=50": "swap the two",
		"-chars-per-token=0":        "from 1 to 100",
		"out.jsonl":                 `unexpected "out.jsonl"`,
	} {
		var made bytes.Buffer
		err := run(strings.Fields(args), &made)
		if err == nil || !strings.Contains(err.Error(), want) || made.Len() > 0 {
			t.Errorf("%s: %v and %d bytes, want an error with %q and none", args, err, made.Len(), want)
		}
	}
}

// TestSeeds: another seed is another set, an equal one the same.
func TestSeeds(t *testing.T) {
	of := func(args ...string) string {
		var made bytes.Buffer
		if err := run(append(args, "-count=2", "-shortest=100", "-longest=200"), &made); err != nil {
			t.Fatal(err)
		}
		return made.String()
	}
	one, again, other := of("-seed=1"), of("-seed=1"), of("-seed=2")
	if one != again {
		t.Error("one seed makes two sets")
	}
	if one == other {
		t.Error("two seeds make one set")
	}
}
