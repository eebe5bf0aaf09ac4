package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/serverside"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]any{
		"0/1": Shard{0, 1}, "2/3": Shard{2, 3}, "prober-eu-2/3": Shard{2, 3},
		"3/3": `"3/3" is none of 3 shards: the first is 0, the last 2`, "prober-3/3": "is none of 3 shards",
		"-1/3": "write for example 0/3", "": "write for example 0/3", "1": "write for example", "a/3": "write for example", "0/0": "write for example", "1/x": "write for example",
	} {
		got, err := ParseShard(text)
		if s, ok := want.(Shard); ok {
			if err != nil || got != s {
				t.Errorf("%q: %v, %v; want %v", text, got, err, s)
			}
		} else if err == nil || !strings.Contains(err.Error(), want.(string)) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// owner returns which of n shards has a target, which may belong to a group.
func owner(t *testing.T, n int, to target.Target) int {
	t.Helper()
	found := -1
	all := Fleet{Targets: []target.Target{to}, Groups: []Group{{Template: target.Target{Name: "found"}}}}
	for i := range n {
		if len(all.ForShard(Shard{i, n}).Targets) == 0 && n > 1 || n == 1 && !(Shard{0, 1}).owns(to.Name) {
			continue
		}
		if found >= 0 {
			t.Fatalf("of %d shards both %d and %d have %q", n, found, i, to.Name)
		}
		found = i
	}
	if found < 0 {
		t.Fatalf("none of %d shards has %q", n, to.Name)
	}
	return found
}

// TestShardsAreAPartition checks that every target has one owner, that loads are similar, and that removing
// the last shard moves only its own targets.
func TestShardsAreAPartition(t *testing.T) {
	const targets = 1000
	for n := 2; n <= 8; n++ {
		held := make([]int, n)
		for i := range targets {
			to := target.Target{Name: fmt.Sprint("t", i)}
			at := owner(t, n, to)
			held[at]++
			if before := owner(t, n-1, to); at != n-1 && before != at {
				t.Fatalf("%q moved from %d to %d though shard %d went", to.Name, at, before, n-1)
			}
		}
		for i, h := range held {
			if h < targets/n*7/10 || h > targets/n*13/10 {
				t.Errorf("shard %d of %d has %d of %d targets", i, n, h, targets)
			}
		}
	}
	sibling := func(name string) int { return owner(t, 5, target.Target{Name: name, Service: "chat"}) }
	if sibling("a") != sibling("b") {
		t.Error("targets of a service are apart")
	}
	if owner(t, 5, target.Target{Name: "x/llama"}) != owner(t, 5, target.Target{Name: "x"}) {
		t.Error("a model is apart from its target")
	}
}

// TestShardsOfGroups checks that found targets are divided among the shards, that targets of a service stay together,
// and that every shard has the leased targets.
func TestShardsOfGroups(t *testing.T) {
	held := map[int]int{}
	for i := range 300 {
		held[owner(t, 3, target.Target{Name: fmt.Sprint("found/", i)})]++
	}
	for i := range 3 {
		if held[i] < 70 {
			t.Errorf("shard %d of 3 has %d of 300 targets of a group", i, held[i])
		}
	}
	if owner(t, 5, target.Target{Name: "found/a", Service: "chat"}) != owner(t, 5, target.Target{Name: "found/b", Service: "chat"}) {
		t.Error("targets of a service in a group are apart")
	}
	leased := Fleet{Targets: []target.Target{{Name: "m/a"}}, Groups: []Group{{Template: target.Target{Name: "m"}, Lease: time.Minute}}}
	for i := range 3 {
		if len(leased.ForShard(Shard{i, 3}).Targets) != 1 {
			t.Errorf("shard %d does not probe what is leased from it", i)
		}
	}
}

// TestShardsShareEverything checks that jobs and servers go to the shard of their target.
func TestShardsShareEverything(t *testing.T) {
	var all Fleet
	for i := range 20 {
		to := target.Target{Name: fmt.Sprint("t", i)}
		all.Targets = append(all.Targets, to)
		all.Jobs = append(all.Jobs, Job{Job: probe.Job{Target: to}})
		all.ServerMetrics = append(all.ServerMetrics, serverside.Watched{Target: to})
	}
	targets := 0
	for i := range 3 {
		part := all.ForShard(Shard{i, 3})
		targets += len(part.Targets)
		if len(part.Jobs) != len(part.Targets) || len(part.ServerMetrics) != len(part.Targets) || len(part.Jobs) == 20 {
			t.Errorf("shard %d has %d jobs, %d targets and %d servers", i, len(part.Jobs), len(part.Targets), len(part.ServerMetrics))
		}
	}
	if targets != 20 || len(all.Jobs) != 20 {
		t.Errorf("together %d targets; the whole has %d jobs", targets, len(all.Jobs))
	}
}
