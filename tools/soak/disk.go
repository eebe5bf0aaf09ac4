//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const (
	// diskSize is the size of the small disk, if one can be mounted.
	diskSize = "192m"
	ballast  = "ballast"
)

// disk is the directory of the program's state and of the pager.
func (s *soak) disk() string { return filepath.Join(s.dir, "disk") }

// mountDisk mounts a small disk that can be filled. Only root can; otherwise the disk is a
// directory that never fills.
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
		_ = syscall.Unmount(s.disk(), syscall.MNT_DETACH) // the disk disappears with its last open file
	}
}

// fill uses all remaining space of the small disk.
func (s *soak) fill() {
	if !s.small {
		return
	}
	f, err := os.Create(filepath.Join(s.disk(), ballast))
	if err != nil {
		return // the disk is already full
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
		_ = os.Remove(filepath.Join(s.disk(), ballast)) // it may not exist
	}
}
