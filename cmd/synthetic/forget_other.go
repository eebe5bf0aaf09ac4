//go:build !linux

package main

// forgetStart is only known for Linux.
func forgetStart() {}
