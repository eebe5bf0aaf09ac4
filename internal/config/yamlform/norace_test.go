//go:build !race

package yamlform

const allocates = 1
