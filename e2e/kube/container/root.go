//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	"synthetic/e2e/kube/container/spec"
)

// root makes the image's files, with the volumes in them, the root directory. The process
// has its own mount and UTS namespaces.
func root(c spec.Container) error {
	if err := unix.Sethostname([]byte(c.Hostname)); err != nil {
		return fmt.Errorf("setting the host's name: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separating from the node's mounts: %w", err)
	}
	dir, err := overlay(c)
	if err != nil {
		return err
	}
	mounts := append([]spec.Mount{{From: "/proc", To: "/proc"}, {From: "/dev", To: "/dev"}, {From: "/sys", To: "/sys", ReadOnly: true}}, c.Mounts...)
	for _, m := range mounts {
		if err := bind(dir, m); err != nil {
			return fmt.Errorf("mounting %q as %q: %w", m.From, m.To, err)
		}
	}
	return enter(dir, c.ReadOnlyRoot)
}

// overlay mounts a scratch directory over the image, like container runtimes do.
func overlay(c spec.Container) (string, error) {
	if err := unix.Mount("tmpfs", c.Scratch, "tmpfs", 0, "mode=755"); err != nil {
		return "", fmt.Errorf("mounting a scratch directory: %w", err)
	}
	dir, upper, work := filepath.Join(c.Scratch, "root"), filepath.Join(c.Scratch, "upper"), filepath.Join(c.Scratch, "work")
	for _, d := range []string{dir, upper, work, filepath.Join(upper, "etc")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(filepath.Join(upper, "etc/resolv.conf"), []byte(c.ResolvConf), 0o644); err != nil {
		return "", err
	}
	if err := unix.Mount("overlay", dir, "overlay", 0, "lowerdir="+c.Image+",upperdir="+upper+",workdir="+work); err != nil {
		return "", fmt.Errorf("mounting a scratch directory over the image %q: %w", c.Image, err)
	}
	return dir, nil
}

func bind(root string, m spec.Mount) error {
	to := filepath.Join(root, m.To)
	info, err := os.Stat(m.From)
	if err != nil {
		return err
	}
	if err := mountPoint(to, info.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount(m.From, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if !m.ReadOnly {
		return nil
	}
	return unix.Mount("", to, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
}

func mountPoint(path string, dir bool) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if dir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o644)
}

// enter makes dir the root directory and unmounts the node's root.
func enter(dir string, readOnly bool) error {
	if readOnly {
		if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("making the root read-only: %w", err)
		}
	}
	if err := unix.Chdir(dir); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("entering the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the node's root: %w", err)
	}
	return unix.Chdir("/")
}
