//go:build race

package main

// raceEnabled is true if the race detector slows the tests down.
const raceEnabled = true
