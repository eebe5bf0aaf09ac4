package workload

import (
	"hash/fnv"
	"math/rand/v2"
)

// Hash returns a well mixed number that is the same in every process. It spreads replicas and
// jobs over time.
func Hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0}) // so that ("ab", "c") is not ("a", "bc")
	}
	return mix(h.Sum64())
}

// mix is the finalizer of splitmix64. It is needed because FNV's upper bits differ little for
// short similar strings.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// newRand returns a random source that depends on all keys.
func newRand(keys ...uint64) *rand.Rand {
	var a uint64
	for _, k := range keys {
		a = mix(a ^ mix(k))
	}
	return rand.New(rand.NewPCG(a, mix(a)))
}
