package trace

import "hash/maphash"

// maxRecent is how many names are remembered. A session whose records are further apart counts
// as two.
const maxRecent = 1 << 17

// recent is a map that forgets its oldest keys.
type recent struct {
	seed   maphash.Seed
	values map[uint64]string
	order  []uint64
	next   int
}

func newRecent() *recent { return &recent{seed: maphash.MakeSeed(), values: map[uint64]string{}} }

// put adds a name. If there are too many, it drops the oldest.
func (r *recent) put(name, value string) {
	key := maphash.String(r.seed, name)
	if _, ok := r.values[key]; !ok {
		if len(r.order) < maxRecent {
			r.order = append(r.order, key)
		} else {
			delete(r.values, r.order[r.next])
			r.order[r.next] = key
			r.next = (r.next + 1) % maxRecent
		}
	}
	r.values[key] = value
}

func (r *recent) get(name string) (value string, ok bool) {
	value, ok = r.values[maphash.String(r.seed, name)]
	return value, ok
}
