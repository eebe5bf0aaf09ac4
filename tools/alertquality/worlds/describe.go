package worlds

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// describe describes a model in one line. For a model of a scenario file it lists the changed
// parameters.
func (m Model) describe() string {
	line := fmt.Sprintf("%s: %g conversations a minute of %d to %d turns, σ %g of single turns",
		m.Name, m.ConversationsPerMinute, m.TurnsMin, m.TurnsMax, m.Sigma)
	base, err := ModelNamed(m.Like)
	if err != nil { // a built-in model
		if m.HeldOut() {
			line += "; held out"
		}
		return line + "; " + m.builtin.about
	}
	line += "; otherwise like " + m.Like
	if changes := m.changes(base); len(changes) > 0 {
		line += ", but for " + strings.Join(changes, ", ")
	}
	return line
}

// changes lists the parameters that differ from base, except those in every line, under their
// names in the scenario file.
func (m Model) changes(base Model) []string {
	always := []string{"name", "like,omitempty", "conversations_per_minute", "turns_min", "turns_max", "sigma"}
	var out []string
	own, other := reflect.ValueOf(m), reflect.ValueOf(base)
	for i := range own.NumField() {
		key := own.Type().Field(i).Tag.Get("json")
		if key == "" || slices.Contains(always, key) {
			continue
		}
		if v := own.Field(i).Interface(); v != other.Field(i).Interface() {
			out = append(out, fmt.Sprintf("%s %v", key, v))
		}
	}
	return out
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
