package trace

import "hash/maphash"

// mostRecent is how many names are remembered: sessions whose records lie further
// apart are taken for two.
const mostRecent = 1 << 17

// recent maps the names that came last to others.
type recent struct {
	seed  maphash.Seed
	known map[uint64]string
	order []uint64
	next  int
}

func newRecent() *recent { return &recent{seed: maphash.MakeSeed(), known: map[uint64]string{}} }

// put remembers a name, and forgets the oldest when there are too many.
func (r *recent) put(name, value string) {
	key := maphash.String(r.seed, name)
	if _, ok := r.known[key]; !ok {
		if len(r.order) < mostRecent {
			r.order = append(r.order, key)
		} else {
			delete(r.known, r.order[r.next])
			r.order[r.next] = key
			r.next = (r.next + 1) % mostRecent
		}
	}
	r.known[key] = value
}

func (r *recent) get(name string) (value string, ok bool) {
	value, ok = r.known[maphash.String(r.seed, name)]
	return value, ok
}
