package node

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"synthetic/e2e/kube/container/spec"
)

// container is a process in the namespaces that cmd/container enters.
type container struct {
	id, pod, log, dir string
	config            *runtimeapi.ContainerConfig

	cmd  *exec.Cmd
	code int32
	// done is closed when the process has ended; code is set before.
	done chan struct{}
}

// entrypoint is the entrypoint of the image, for a pod without a command.
var entrypoint = []string{"/usr/bin/synthetic"}

// describe returns the files and the rights of the process.
func (r *runtime) describe(c *container, p *pod) (spec.Container, error) {
	image, err := r.images.root(c.config.Image.Image)
	if err != nil {
		return spec.Container{}, err
	}
	command := c.config.Command
	if len(command) == 0 {
		command = entrypoint
	}
	s := spec.Container{
		Args: append(command[:len(command):len(command)], c.config.Args...), Dir: cmp.Or(c.config.WorkingDir, "/"),
		Network: "/run/netns/" + p.network, Image: image, Scratch: filepath.Join(c.dir, "scratch"),
		Hostname: cmp.Or(p.config.Hostname, r.config.Name), ResolvConf: resolvConf(p.config.DnsConfig),
		Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME=" + p.config.Hostname},
	}
	for _, e := range c.config.Envs {
		s.Env = append(s.Env, e.Key+"="+string(e.Value))
	}
	for _, m := range c.config.Mounts {
		s.Mounts = append(s.Mounts, spec.Mount{From: m.HostPath, To: m.ContainerPath, ReadOnly: m.Readonly})
	}
	secure(&s, c.config.GetLinux().GetSecurityContext())
	return s, nil
}

// imageUser is the user of the image's Dockerfile, for a pod without a user.
const imageUser = 65532

func secure(s *spec.Container, security *runtimeapi.LinuxContainerSecurityContext) {
	s.UID, s.GID = imageUser, imageUser
	if u := security.GetRunAsUser(); u != nil {
		s.UID = int(u.Value)
	}
	if g := security.GetRunAsGroup(); g != nil {
		s.GID = int(g.Value)
	}
	for _, g := range security.GetSupplementalGroups() {
		s.Groups = append(s.Groups, int(g))
	}
	s.ReadOnlyRoot, s.NoNewPrivileges = security.GetReadonlyRootfs(), security.GetNoNewPrivs()
}

func resolvConf(c *runtimeapi.DNSConfig) string {
	var text string
	for _, s := range c.GetServers() {
		text += "nameserver " + s + "\n"
	}
	if len(c.GetSearches()) > 0 {
		text += "search"
		for _, s := range c.GetSearches() {
			text += " " + s
		}
		text += "\n"
	}
	if len(c.GetOptions()) > 0 {
		text += "options"
		for _, o := range c.GetOptions() {
			text += " " + o
		}
		text += "\n"
	}
	return text
}

// start runs the program that becomes the container.
func (c *container) start(program string, s spec.Container) error {
	if err := os.MkdirAll(s.Scratch, 0o755); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	file := filepath.Join(c.dir, "spec.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	out, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	read, write := io.Pipe()
	c.cmd = exec.Command(program, file)
	c.cmd.Stdout, c.cmd.Stderr = write, write
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWUTS}
	if err := c.cmd.Start(); err != nil {
		out.Close()
		return fmt.Errorf("starting the container %q: %w", c.id, err)
	}
	go writeLog(out, read)
	go func() {
		defer close(c.done)
		_ = c.cmd.Wait() // the state has the result
		write.Close()
		c.code = exitCode(c.cmd.ProcessState)
		_ = os.RemoveAll(c.dir)
	}()
	return nil
}

// writeLog writes the lines in the log format of container runtimes, which the kubelet
// reads.
func writeLog(out *os.File, from io.Reader) {
	defer out.Close()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintf(out, "%s stdout F %s\n", time.Now().Format(time.RFC3339Nano), lines.Bytes())
	}
	_, _ = io.Copy(io.Discard, from) // after a line that is too long
}

// exitCode returns the exit code like a shell: 128 plus the signal for a killed process.
func exitCode(s *os.ProcessState) int32 {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int32(w.Signal())
	}
	return int32(s.ExitCode())
}

// stop asks the process to end, and kills it after the grace period.
func (c *container) stop(grace time.Duration) {
	if c.cmd == nil || c.cmd.Process == nil {
		return
	}
	group := -c.cmd.Process.Pid
	_ = unix.Kill(group, unix.SIGTERM) // fails if it has ended
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.done:
		return
	case <-timer.C:
	}
	_ = unix.Kill(group, unix.SIGKILL)
	<-c.done
}
