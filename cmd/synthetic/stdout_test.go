package main

import (
	"os"
	"strings"
	"testing"
)

// TestFullOutput: a command whose output could not be written has failed.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	stderr := newBuffer()
	if code := run(t.Context(), []string{"check", "../../examples/minimal.yml", "--no-keys"}, full, stderr); code != exitFailure {
		t.Errorf("exit code %d, want %d", code, exitFailure)
	}
	if !strings.Contains(stderr.String(), "no space left on device") {
		t.Errorf("stderr %q", stderr)
	}
}
