//go:build linux

// Command container becomes the process of a container: it enters the pod's network,
// replaces the root directory by the image's files and the mounted volumes, drops root, and
// executes the command. It reads its task as JSON from the file in its argument. It is a
// program of its own because it starts once per container, and the servers take long to
// load.
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
	// The network namespace belongs to the thread, and exec continues on the calling
	// thread.
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

// drop drops root. With another user, no capabilities remain.
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

// lookPath finds the command in the image's PATH, like a container runtime.
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
