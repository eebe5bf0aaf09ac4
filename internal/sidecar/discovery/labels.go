package discovery

import (
	"maps"
	"slices"
	"strings"

	prom "github.com/prometheus/prometheus/discovery"

	"synthetic/internal/probe/target"
)

// labeled is a source that knows in advance which labels it gives to targets.
type labeled interface{ LabelNames() []string }

// LabelNames returns the labels that targets of the group will have, as far as the
// configuration tells. Labels from file_sd or http_sd are known only when targets are found.
func (g Group) LabelNames() []string {
	all := slices.Collect(maps.Keys(g.Template.Labels))
	for _, r := range g.Relabel {
		all = append(all, r.TargetLabel)
	}
	for _, s := range g.Sources {
		switch s := s.(type) {
		case labeled:
			all = append(all, s.LabelNames()...)
		case prom.StaticConfig:
			for _, one := range s {
				for name := range one.Labels {
					all = append(all, string(name))
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(name string) bool {
		return name == "" || strings.Contains(name, "$") || slices.Contains([]string{nameLabel, baseLabel}, name) || target.IsReservedLabel(name)
	})
	slices.Sort(all)
	return slices.Compact(all)
}
