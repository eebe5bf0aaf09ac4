//go:build race

package yamlform

// allocates is the factor of additional allocations with the race detector.
const allocates = 4
