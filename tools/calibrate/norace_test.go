//go:build !race

package main

// raceEnabled tells that the race detector slows all down.
const raceEnabled = false
