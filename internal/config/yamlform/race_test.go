//go:build race

package yamlform

// allocates is the factor by which the race detector increases allocations.
const allocates = 4
