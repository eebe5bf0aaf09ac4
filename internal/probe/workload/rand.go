package workload

import (
	"hash/fnv"
	"math/rand/v2"
)

// Hash maps strings to a number that is the same in every process and whose
// bits are all well mixed: it spreads replicas and jobs over time.
func Hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0}) // so that ("ab", "c") is not ("a", "bc")
	}
	return mix(h.Sum64())
}

// mix is the finalizer of splitmix64: FNV's upper bits differ little between
// short similar strings.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// newRand returns a source of random numbers that depends on all its keys.
func newRand(keys ...uint64) *rand.Rand {
	var a uint64
	for _, k := range keys {
		a = mix(a ^ mix(k))
	}
	return rand.New(rand.NewPCG(a, mix(a)))
}
