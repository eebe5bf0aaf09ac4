package main

import (
	"os"
	"runtime/debug"
)

// gcPercent is Go's GOGC. With 1,000 targets much is alive and little is allocated, so a low percentage
// saves memory and costs little CPU time.
const gcPercent = 50

// setCollector sets GOGC if the user has not set it.
func setCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
