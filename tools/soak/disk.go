//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const (
	// diskSize is that of the small disk, where one can be made.
	diskSize = "192m"
	ballast  = "ballast"
)

// disk is where the program keeps its state and the pager's directory.
func (s *soak) disk() string { return filepath.Join(s.dir, "disk") }

// mountDisk makes a small disk, so that it can be filled; only root can. Without
// it the disk is a directory that never fills.
func (s *soak) mountDisk() error {
	if err := os.MkdirAll(s.disk(), 0o700); err != nil {
		return err
	}
	err := syscall.Mount("soak", s.disk(), "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "size="+diskSize+",mode=0700")
	s.small = err == nil
	if err != nil {
		fmt.Printf("no small disk can be mounted (%v): the full disk is left out\n", err)
	}
	return nil
}

func (s *soak) unmountDisk() {
	if s.small {
		_ = syscall.Unmount(s.disk(), syscall.MNT_DETACH) // what is left goes with its last file
	}
}

// fill takes what is left of the small disk.
func (s *soak) fill() {
	if !s.small {
		return
	}
	f, err := os.Create(filepath.Join(s.disk(), ballast))
	if err != nil {
		return // it is full already
	}
	defer f.Close()
	for size := 1 << 20; size >= 512; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

func (s *soak) free() {
	if s.small {
		_ = os.Remove(filepath.Join(s.disk(), ballast)) // it may never have been
	}
}
