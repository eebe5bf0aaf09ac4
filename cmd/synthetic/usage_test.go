package main

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestHelpFitsOnAScreen: the help of the program has a sentence for each command, which explains itself.
func TestHelpFitsOnAScreen(t *testing.T) {
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"--help"}, &out, &errs); code != exitOK || strings.Count(out.String(), "\n") > 70 ||
		!strings.Contains(out.String(), "Check configuration files and plans of sweeps.\n") {
		t.Errorf("code %d, errors %q, help\n%s", code, errs.String(), out.String())
	}
	out.Reset()
	if run(t.Context(), []string{"init", "--help"}, &out, &errs); !strings.Contains(strings.Join(strings.Fields(out.String()), " "), "If no request succeeds, it writes no file and exits with code 1") {
		t.Errorf("the help of init is\n%s", out.String())
	}
}

// fullDisk fails like a file on a full disk.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

func TestHelpThatCannotBeWritten(t *testing.T) {
	var errs strings.Builder
	code := run(t.Context(), []string{"--help"}, fullDisk{}, &errs)
	if want := "synthetic: write /dev/stdout: no space left on device\n"; code != exitFailure || errs.String() != want {
		t.Errorf("code %d, errors %q, want %d and %q", code, errs.String(), exitFailure, want)
	}
}
