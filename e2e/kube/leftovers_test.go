package kube

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkNoPodIsLeft waits until no process and no network of a pod is left on the node.
func (c *cluster) checkNoPodIsLeft(t *testing.T) {
	t.Helper()
	await(t, patience, "the end of all pods", func() error {
		if left := processes(t, filepath.Dir(c.program)); len(left) > 0 {
			return fmt.Errorf("processes: %v", left)
		}
		networks, err := filepath.Glob("/run/netns/*")
		if err != nil {
			return err
		}
		if len(networks) > 0 {
			return fmt.Errorf("networks: %v", networks)
		}
		return nil
	})
}

// checkNothingRuns checks that no process and no listener besides the test exists.
func checkNothingRuns(t *testing.T) {
	t.Helper()
	if left := processes(t, ""); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 3 && fields[3] == "0A" {
				t.Errorf("a process still listens: %s", line)
			}
		}
	}
}

// processes returns the commands of all processes besides the test and the programs of a
// directory. Processes of pods have other root directories.
func processes(t *testing.T, servers string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, link := range links {
		program, err := os.Readlink(link)
		if err != nil || program == self || filepath.Dir(program) == servers {
			continue // a zombie or an ended process has no executable
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline")) // it may just end
		commands = append(commands, strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " "))
	}
	return commands
}
