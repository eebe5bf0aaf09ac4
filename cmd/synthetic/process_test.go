package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProgramEnv makes the test binary run the program. With the value measuredProgram it
// starts the program as a child and writes its resource usage to file descriptor 3.
const asProgramEnv, measuredProgram = "SYNTHETIC_TEST_AS_PROGRAM", "measured"

// asProgram runs the program and exits if this process was started for that.
func asProgram() {
	switch os.Getenv(asProgramEnv) {
	case "":
	case measuredProgram:
		os.Exit(launch(os.NewFile(3, "what it took")))
	default:
		main()
	}
}

// newProcess returns the real program as a process of its own.
func newProcess(args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgramEnv+"=1")
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// serveAs starts "synthetic run" as a process and waits until it serves. The process ends with the test.
func serveAs(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, err: newBuffer()}
	cmd.Stderr = p.err
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails if it has ended
		_ = cmd.Wait()         // the error says that it was killed
	})
	p.base = "http://" + p.err.find(t, listening)
	return p
}

// launch runs the program with the arguments of this process and returns its exit code.
func launch(took *os.File) int {
	cmd, _, _ := newProcess(os.Args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	_ = cmd.Wait() // the exit code is read below
	state := cmd.ProcessState
	fmt.Fprintln(took, state.SysUsage().(*syscall.Rusage).Maxrss>>10, int64(state.UserTime()+state.SystemTime()))
	return state.ExitCode()
}

// measured runs the program, which has to succeed, and returns its output, its largest
// resident memory and its CPU time.
func measured(t *testing.T, args ...string) (stdout string, mib int64, cpu time.Duration) {
	t.Helper()
	stdout, stderr, mib, cpu, err := tryMeasured(t, args...)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	return stdout, mib, cpu
}

// tryMeasured is measured for a program that may fail. The kernel counts the memory of the process that forks
// as the child's own, and these tests use a lot, so a process without other work starts the
// program.
func tryMeasured(t *testing.T, args ...string) (stdout, stderr string, mib int64, cpu time.Duration, failed error) {
	t.Helper()
	cmd, out, log := newProcess(args...)
	cmd.Env = append(cmd.Env, asProgramEnv+"="+measuredProgram)
	took, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer took.Close()
	cmd.ExtraFiles = []*os.File{to}
	failed = cmd.Run()
	to.Close()
	if _, err := fmt.Fscanln(took, &mib, &cpu); err != nil {
		t.Fatal(err)
	}
	return out.String(), log.String(), mib, cpu, failed
}

// TestMeasured: the memory of these tests is not counted as the program's.
func TestMeasured(t *testing.T) {
	ballast := bytes.Repeat([]byte{1}, 200<<20)
	stdout, mib, cpu := measured(t, "--version")
	if mib < 5 || mib > 160 || cpu <= 0 || !strings.Contains(stdout, "synthetic") {
		t.Errorf("%d MB and %s of CPU for %q, beside %d MB of the tests", mib, cpu, stdout, len(ballast)>>20)
	}
}
