//go:build !linux

// Command wirebench measures the measuring path; it needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "wirebench: the shared clock, the pinning of processes and the kernel's timestamps need Linux")
	os.Exit(1)
}
