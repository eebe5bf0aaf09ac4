//go:build !linux

// Command siege needs Linux.
package main

import "log"

func main() { log.Fatal("siege reads /proc: it runs on Linux alone") }
