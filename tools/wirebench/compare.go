//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// compare runs each scenario with each mode in turn, so that a noisy minute
// meets all modes alike, and prints the medians.
func compare(chosen []scenario, modes []string, runs int, d time.Duration, out io.Writer) error {
	fmt.Fprintf(out, "%d cores; server on core %d, client on core %d; %d paired runs of %v, medians\n\n", runtime.NumCPU(), serverCore, clientCore(), runs, d)
	fmt.Fprintln(out, "| scenario | client | events | CPU µs/event | error p50 µs | p99 | max | kB/stream |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	for _, s := range chosen {
		got := map[string][]figures{}
		for range runs {
			for _, mode := range modes {
				f, err := once(s, mode, d)
				if err != nil {
					return fmt.Errorf("scenario %s, client %s: %w", s.name, mode, err)
				}
				got[mode] = append(got[mode], f)
			}
		}
		for _, mode := range modes {
			f := medians(got[mode])
			fmt.Fprintf(out, "| %s | %s | %d | %.2f | %.1f | %.1f | %.0f | %.1f |\n", s.name, mode, f.Events, f.CPUMicros, f.P50, f.P99, f.Max, f.KilobytesStream)
		}
	}
	return nil
}

const serverCore = 0

// clientCore is another core than the server's where there is one.
func clientCore() int { return min(1, runtime.NumCPU()-1) }

// once runs a server and a client.
func once(s scenario, mode string, d time.Duration) (figures, error) {
	server, err := child("-role=server", "-scenarios="+s.name)
	if err != nil {
		return figures{}, err
	}
	hold, err := server.StdinPipe()
	if err != nil {
		return figures{}, err
	}
	printed, err := server.StdoutPipe()
	if err != nil {
		return figures{}, err
	}
	// SCHED_BATCH: a thread of its own that wakes does not interrupt the writer.
	if err := startOn(server, serverCore, unix.SCHED_BATCH); err != nil {
		return figures{}, err
	}
	f, err := client(s, mode, printed, d)
	hold.Close() // ends the server
	return f, errors.Join(err, server.Wait())
}

// client runs the client against the server that prints its address.
func client(s scenario, mode string, printed io.Reader, d time.Duration) (figures, error) {
	address, err := bufio.NewReader(printed).ReadString('\n')
	if err != nil {
		return figures{}, fmt.Errorf("the server printed no address: %w", err)
	}
	c, err := child("-role=client", "-scenarios="+s.name, "-modes="+mode, "-duration="+d.String(), "-address="+strings.TrimSpace(address))
	if err != nil {
		return figures{}, err
	}
	var result strings.Builder
	c.Stdout = &result
	if err := startOn(c, clientCore(), unix.SCHED_NORMAL); err != nil {
		return figures{}, err
	}
	// Bounded whatever happens: a run is seconds.
	timer := time.AfterFunc(d+40*time.Second, func() { c.Process.Kill() })
	defer timer.Stop()
	if err := c.Wait(); err != nil {
		return figures{}, err
	}
	var f figures
	return f, json.Unmarshal([]byte(result.String()), &f)
}

// child is this program in another role.
func child(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	c.Stderr = os.Stderr
	return c, nil
}

// startOn starts c on one core under a scheduling policy: a process inherits
// both from the thread that starts it.
func startOn(c *exec.Cmd, core int, policy uint32) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return err
	}
	own := attr.Policy
	one.Set(core)
	attr.Policy = policy
	if err := errors.Join(unix.SchedSetaffinity(0, &one), unix.SchedSetAttr(0, attr, 0)); err != nil {
		return err
	}
	err = c.Start()
	attr.Policy = own
	return errors.Join(err, unix.SchedSetaffinity(0, &before), unix.SchedSetAttr(0, attr, 0))
}

// quantiles returns the median, the 99th percentile and the largest of errors,
// in microseconds. It sorts them.
func quantiles(errors []int32) (p50, p99, largest float64) {
	if len(errors) == 0 {
		return 0, 0, 0
	}
	slices.Sort(errors)
	at := func(q float64) float64 { return float64(errors[int(q*float64(len(errors)-1))]) / 1e3 }
	return at(.5), at(.99), at(1)
}

// medians takes the median of each figure on its own.
func medians(all []figures) figures {
	of := func(get func(figures) float64) float64 {
		var v []float64
		for _, f := range all {
			v = append(v, get(f))
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return figures{
		Events:          int(of(func(f figures) float64 { return float64(f.Events) })),
		CPUMicros:       of(func(f figures) float64 { return f.CPUMicros }),
		P50:             of(func(f figures) float64 { return f.P50 }),
		P99:             of(func(f figures) float64 { return f.P99 }),
		Max:             of(func(f figures) float64 { return f.Max }),
		KilobytesStream: of(func(f figures) float64 { return f.KilobytesStream }),
	}
}
