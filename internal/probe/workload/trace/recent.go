package trace

import "hash/maphash"

// minRecent is how many names are remembered at least. A session whose records are further apart counts as
// two.
const minRecent = 1 << 17

// recent is a map that forgets its oldest keys. It stores hashes, because names can be long.
type recent struct {
	seed         maphash.Seed
	newer, older map[uint64]string // at most minRecent each
}

func newRecent() *recent { return &recent{seed: maphash.MakeSeed(), newer: map[uint64]string{}} }

func (r *recent) put(name, value string) {
	if len(r.newer) == minRecent {
		r.newer, r.older = map[uint64]string{}, r.newer
	}
	r.newer[maphash.String(r.seed, name)] = value
}

func (r *recent) get(name string) (value string, ok bool) {
	key := maphash.String(r.seed, name)
	if value, ok = r.newer[key]; !ok {
		value, ok = r.older[key]
	}
	return value, ok
}
