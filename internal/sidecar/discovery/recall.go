package discovery

import "time"

// Recall sets the targets that an earlier process had found, by group. They are used until all
// sources of a group have answered. Call it before the first Follow.
func (f *Follower) Recall(found map[string][]Target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recalled = found
}

// Remember returns what Recall takes in a later process: names, addresses and labels, and no
// keys.
func (f *Follower) Remember() map[string][]Target {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]Target{}
	for name, one := range f.groups {
		if one.group.Lease == 0 && len(one.found) > 0 {
			out[name] = one.found
		}
	}
	return out
}

// begun returns the initial state of a group.
func (f *Follower) begun(g Group) *followed {
	one := &followed{leases: map[string]*lease{}, born: time.Now()}
	if g.Lease == 0 {
		one.recalled = f.recalled[g.Name()]
	}
	return one
}

// current makes targets of the labels in force with the settings of g.
func (one *followed) current(g Group) ([]Target, []LeftOut) {
	if one.recalled != nil {
		return g.still(one.recalled), nil
	}
	return g.resolve(one.kept)
}

// still returns the targets that g still allows.
func (g Group) still(found []Target) (out []Target) {
	for _, t := range found {
		base, err := g.Address.Base(t.BaseURL)
		if err == nil && base == t.BaseURL && g.allows(base) && len(out) < g.Most {
			out = append(out, t)
		}
	}
	return out
}
