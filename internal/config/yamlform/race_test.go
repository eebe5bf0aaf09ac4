//go:build race

package yamlform

// allocates is by how much more the race detector has a program allocate.
const allocates = 4
