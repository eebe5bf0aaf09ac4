package worlds

import (
	"fmt"
	"slices"
	"strings"
)

// describe describes a model in one line.
func (m Model) describe() string {
	return fmt.Sprintf("%s: %g conversations a minute of %d to %d turns, σ %g of single turns; %s",
		m.Name, m.ConversationsPerMinute, m.TurnsMin, m.TurnsMax, m.Sigma, m.builtin.about)
}

// describe describes a fault in one line. The names of built-in faults describe them; other
// faults get their details.
func (f Fault) describe() string {
	line := fmt.Sprintf("%s: lasts %s, found if paged within %s", f.Name, f.Length, f.within())
	named := func(n Fault) bool { return n.Name == f.Name && n.details() == f.details() }
	if !slices.ContainsFunc(Faults(), named) {
		line += "; " + f.details()
	}
	if len(f.At) > 0 {
		line += "; at " + strings.Trim(fmt.Sprint(f.At), "[]") + " of each run"
	}
	return line
}

// details returns kind, size, share and ramp.
func (f Fault) details() string {
	s := string(f.Kind)
	if f.Size != 0 {
		s += fmt.Sprintf(" ×%g", f.Size)
	}
	if f.Share != 0 {
		s += fmt.Sprintf(", %.6g %% of turns", f.Share*100)
	}
	if f.Ramp != 0 {
		s += fmt.Sprintf(", rising for %s", f.Ramp)
	}
	return s
}
