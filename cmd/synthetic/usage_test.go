package main

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestUsageErrorsNameTheFlag(t *testing.T) {
	for args, want := range map[string]string{
		"simulate --seed=x":                          "synthetic: --seed: \"x\" is not a whole number from 0\nTry \"synthetic simulate --help\".\n",
		"simulate --seed=99999999999999999999":       "synthetic: --seed: \"99999999999999999999\" is too large\nTry \"synthetic simulate --help\".\n",
		"probe --base-url=http://x --turns=often":    "synthetic: --turns: \"often\" is not a number\nTry \"synthetic probe --help\".\n",
		"run --shutdown.timeout=5":                   "synthetic: --shutdown.timeout: missing unit in duration \"5\"; write for example 30s, 5m or 1h30m\nTry \"synthetic run --help\".\n",
		"probe --base-url=http://x --header=a":       "synthetic: --header: expected KEY=VALUE got 'a'\nTry \"synthetic probe --help\".\n",
		"probe --base-url=http://x --log.level=loud": "synthetic: --log.level: unrecognized log level loud\nTry \"synthetic probe --help\".\n",
		"check":                    "synthetic: required argument 'file' not provided\nTry \"synthetic check files --help\".\n",
		"probe --nope":             "synthetic: unknown long flag '--nope'\nTry \"synthetic probe --help\".\n",
		"probe --url=http://x":     "synthetic: unknown long flag '--url'\nTry \"synthetic probe --help\".\n",
		"probe https://me:pw@x/v1": "synthetic: unexpected argument, which may hold a password; write an address as --base-url=URL, without a password and a query\nTry \"synthetic probe --help\".\n",
		"no-such-thing":            "synthetic: expected command but got \"no-such-thing\"; the commands are help, demo, init, run, probe, accept, simulate, sweep, check, generate, report\nTry \"synthetic --help\".\n",
	} {
		var out, errs strings.Builder
		code := run(t.Context(), strings.Fields(args), &out, &errs)
		if code != exitUsage || errs.String() != want || out.Len() > 0 {
			t.Errorf("%q: code %d, output %q, errors\n%q, want\n%q", args, code, out.String(), errs.String(), want)
		}
	}
}

// TestHelpFitsOnAScreen: the help of the program has a sentence for each command, which explains itself.
func TestHelpFitsOnAScreen(t *testing.T) {
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"--help"}, &out, &errs); code != exitOK || strings.Count(out.String(), "\n") > 70 ||
		!strings.Contains(out.String(), "Check configuration files and plans of sweeps.\n") {
		t.Errorf("code %d, errors %q, help\n%s", code, errs.String(), out.String())
	}
	out.Reset()
	if run(t.Context(), []string{"init", "--help"}, &out, &errs); !strings.Contains(strings.Join(strings.Fields(out.String()), " "), "It writes no file, and exits with 1, if no turn") {
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
