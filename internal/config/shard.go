package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/discovery"

	"synthetic/internal/sidecar/sink"
)

// Shard is one of Count processes that share the targets of one configuration. The
// zero value has them all.
type Shard struct{ Index, Count int }

// ParseShard reads "0/3", or with the name of a StatefulSet's pod "prober-0/3".
func ParseShard(text string) (Shard, error) {
	name, count, found := strings.Cut(text, "/")
	n, err := strconv.Atoi(count)
	i, ordinal := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	switch {
	case !found || err != nil || ordinal != nil || n < 1 || name[0] == '-':
		return Shard{}, fmt.Errorf("%q is not INDEX/COUNT: write for example 0/3, or $(POD_NAME)/3 in a StatefulSet", text)
	case i < 0 || i >= n:
		return Shard{}, fmt.Errorf("%q is none of %d shards: the first is 0, the last %d", text, n, n-1)
	}
	return Shard{i, n}, nil
}

// owns reports whether a name is of this shard: of the shards the one whose hash
// with the name is highest, so that another number of shards moves no more names
// than it must.
func (s Shard) owns(name string) bool {
	best, highest := 0, uint64(0)
	for i := range s.Count {
		if h := workload.Hash(strconv.Itoa(i), name); h >= highest {
			best, highest = i, h
		}
	}
	return best == s.Index
}

// Of returns the part of the configuration that is a shard's. Siblings stay together,
// and so do the models of one target. Targets of a group are each their own; leased
// ones are of whoever is asked for them.
func (c *Config) Of(s Shard) *Config {
	if s.Count < 2 {
		return c
	}
	groups := map[string]discovery.Group{}
	for _, g := range c.Discovery {
		groups[g.Name()] = g
	}
	owns := func(t target.Target) bool {
		base, _, _ := strings.Cut(t.Name, "/")
		g, found := groups[base]
		if found {
			base = t.Name
		}
		return g.Lease > 0 || s.owns(cmp.Or(t.Service, base))
	}
	out := *c
	out.Targets = only(c.Targets, owns)
	out.Models = only(c.Models, func(m discovery.ModelSet) bool { return owns(m.Target) })
	out.ServerMetrics = only(c.ServerMetrics, func(w serverside.Watched) bool { return owns(w.Target) })
	out.Jobs = only(c.Jobs, func(j sink.Job) bool { return owns(j.Target) })
	return &out
}

func only[T any](all []T, wanted func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !wanted(v) })
}
