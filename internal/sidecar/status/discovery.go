package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"synthetic/internal/probe"
)

// group is the state of a discovery group on the page.
type group struct{ Name, Text, Failing string }

// groups describes each discovery group: its targets, the objects left out, its error.
func (p *Page) groups() (out []group) {
	if p.options.Discovery == nil {
		return nil
	}
	now := p.options.Now()
	for _, s := range p.options.Discovery() {
		g := group{Name: s.Name, Text: fmt.Sprintf("%d found", s.Found)}
		if s.Leased {
			g.Text = fmt.Sprintf("%d leased", s.Found)
		}
		var left []string
		for _, reason := range slices.Sorted(maps.Keys(s.LeftOut)) {
			left = append(left, fmt.Sprintf("%d for %s", s.LeftOut[reason], reason))
		}
		if left != nil {
			g.Text += ", left out " + strings.Join(left, ", ")
		}
		switch {
		case s.Failing != "":
			g.Failing = fmt.Sprintf("fails for %v: %s", Duration(probe.Some(now.Sub(s.Since))), s.Failing)
		case s.At.IsZero():
			g.Failing = "has not answered yet"
		}
		out = append(out, g)
	}
	return out
}
