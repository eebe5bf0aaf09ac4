//go:build !linux

package main

// trimResident does nothing on this system.
func trimResident() {}
