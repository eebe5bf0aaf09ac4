//go:build linux

// Command container turns itself into the process of one container: it enters the
// pod's network, sees the image's files and the mounted volumes and no others, gives
// up root, and becomes the command. What it is to do it reads as JSON from the file
// that its argument names. It is a program of its own because it is started once for
// each container, and the servers take long to load.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
	"synthetic/e2e/kube/container/spec"
)

func main() {
	if err := become(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "container:", err)
		os.Exit(128)
	}
}

func become(file string) error {
	// The network namespace is the thread's, and the thread that calls exec goes on.
	runtime.LockOSThread()
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var c spec.Container
	if err := json.Unmarshal(text, &c); err != nil {
		return err
	}
	for _, step := range []func(spec.Container) error{network, root, drop} {
		if err := step(c); err != nil {
			return err
		}
	}
	path, err := lookPath(c)
	if err != nil {
		return err
	}
	return unix.Exec(path, c.Args, c.Env)
}

func network(c spec.Container) error {
	if c.Network == "" {
		return nil
	}
	fd, err := unix.Open(c.Network, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening the pod's network %q: %w", c.Network, err)
	}
	return unix.Setns(fd, unix.CLONE_NEWNET)
}

// drop gives up root; without root's number nothing of its capabilities is left.
func drop(c spec.Container) error {
	if c.NoNewPrivileges {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("setting no_new_privs: %w", err)
		}
	}
	if err := unix.Chdir(c.Dir); err != nil {
		return fmt.Errorf("entering %q: %w", c.Dir, err)
	}
	return setIDs(c)
}

func setIDs(c spec.Container) error {
	if err := unix.Setgroups(c.Groups); err != nil {
		return fmt.Errorf("setting the groups %v: %w", c.Groups, err)
	}
	if err := unix.Setresgid(c.GID, c.GID, c.GID); err != nil {
		return fmt.Errorf("setting the group %d: %w", c.GID, err)
	}
	if err := unix.Setresuid(c.UID, c.UID, c.UID); err != nil {
		return fmt.Errorf("setting the user %d: %w", c.UID, err)
	}
	return nil
}

// lookPath finds the command as a runtime of containers does, in the image's PATH.
func lookPath(c spec.Container) (string, error) {
	if filepath.IsAbs(c.Args[0]) {
		return c.Args[0], nil
	}
	for _, dir := range []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"} {
		if path := filepath.Join(dir, c.Args[0]); unix.Access(path, unix.X_OK) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the image has no command %q", c.Args[0])
}
