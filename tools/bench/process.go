//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// process is a child process on a core of its own.
type process struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	stdout bytes.Buffer
	// url is the address of a server; "" for a client.
	url  string
	stop io.Closer
}

// allCores stands for a core if a process may use all.
const allCores = -1

// start starts a process on a core. A child gets the core of the thread that forks it.
func start(cmd *exec.Cmd, core int) (*process, error) {
	p := &process{cmd: cmd}
	cmd.Stderr = &p.stderr
	if cmd.Stdout == nil && cmd.Stdin == nil {
		cmd.Stdout = &p.stdout
	}
	if core == allCores {
		return p, cmd.Start()
	}
	return p, onCore(core, cmd.Start)
}

// onCore calls f on a thread that is bound to a core.
func onCore(core int, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	one.Set(core)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("binding a process to core %d: %w", core, err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &all) }()
	return f()
}

// wait waits until the process ends and returns its output. It kills the process if the context ends.
func (p *process) wait(ctx context.Context) ([]byte, error) {
	defer context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })()
	if err := p.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, p.stderr.String())
	}
	return p.stdout.Bytes(), nil
}

// startServer starts this program as the server of a scenario.
func startServer(s scenario, core int) (*process, error) {
	cmd := exec.Command("/proc/self/exe", "-as", "server", "-scenario", s.name)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p, err := start(cmd, core)
	if err != nil {
		return nil, err
	}
	p.stop = in
	line, err := bufio.NewReader(pipe).ReadString('\n')
	p.url = strings.TrimSpace(line)
	return p, err
}

// close stops a server.
func (p *process) close() {
	_ = p.stop.Close()
	_ = p.cmd.Wait()
}

// openMetrics is what Prometheus asks for without native histograms.
const openMetrics = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8,text/plain;version=0.0.4;q=0.5"

// web takes any certificate. It asks for gzip, as Prometheus does.
var web = http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}

func get(ctx context.Context, url string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", openMetrics)
	resp, err := web.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
