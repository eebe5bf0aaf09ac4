package discovery

import "time"

// Recall takes what an earlier process had found, by group, for what there is until
// all sources of a group have answered. It comes before the first Follow.
func (f *Follower) Recall(found map[string][]Target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recalled = found
}

// Remember is what a later process may recall: names, addresses and labels, of which
// none is a key.
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

// begun is a group that nobody has followed yet.
func (f *Follower) begun(g Group) *followed {
	one := &followed{leases: map[string]*lease{}, born: time.Now()}
	if g.Lease == 0 {
		one.recalled = f.recalled[g.Name()]
	}
	return one
}

// current makes targets of what counts for a group, as g has it.
func (one *followed) current(g Group) ([]Target, []LeftOut) {
	if one.recalled != nil {
		return g.still(one.recalled), nil
	}
	return g.resolve(one.kept)
}

// still are those of the targets that may be some of g: what is allowed may have
// changed since they were found.
func (g Group) still(found []Target) (out []Target) {
	for _, t := range found {
		base, err := g.Address.Base(t.BaseURL)
		if err == nil && base == t.BaseURL && g.allows(base) && len(out) < g.Most {
			out = append(out, t)
		}
	}
	return out
}
