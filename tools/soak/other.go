//go:build !linux

// Command soak runs the sidecar against failing deployments; it needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "soak: what a process holds is read from /proc, so it needs Linux")
	os.Exit(1)
}
