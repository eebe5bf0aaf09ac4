// Package smalldisk mounts a volume that a test can fill, make read-only or make hang.
package smalldisk

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

type Disk struct {
	t *testing.T
	// Path is the mount point.
	Path string
}

// New mounts a volume of mib MiB, such as "64", until the test ends. It skips the test if
// the process is not root.
func New(t *testing.T, mib string) Disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk; internal/alerting tests a full disk without one")
	}
	d := Disk{t, t.TempDir()}
	if err := syscall.Mount("tmpfs", d.Path, "tmpfs", 0, "size="+mib+"m"); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		for syscall.Unmount(d.Path, syscall.MNT_DETACH) == nil { // also a read-only view
		}
	})
	return d
}

func (d Disk) filler() string { return filepath.Join(d.Path, "filler") }

// Fill uses all remaining space.
func (d Disk) Fill() {
	d.t.Helper()
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); err != nil {
			return
		}
	}
}

// Free undoes Fill.
func (d Disk) Free() {
	d.t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.t.Fatal(err)
	}
}

// SetReadOnly makes the volume read-only or writable, by a read-only view of it in front of it. Files that are
// open stay writable; a plain remount would be refused because of them.
func (d Disk) SetReadOnly(readOnly bool) {
	d.t.Helper()
	var err error
	if readOnly {
		err = syscall.Mount(d.Path, d.Path, "", syscall.MS_BIND, "")
		err = errors.Join(err, syscall.Mount("", d.Path, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	} else {
		err = syscall.Unmount(d.Path, syscall.MNT_DETACH)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// Hang lets every open of a file or directory of the volume wait, in all processes, until answer is called.
// The kernel also ends the wait if this process ends. It skips the test if the kernel cannot do that.
func (d Disk) Hang() (answer func()) {
	d.t.Helper()
	// The kernel asks the reader of this descriptor whether a file may be opened. Nobody reads.
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_CONTENT|unix.FAN_CLOEXEC, unix.O_RDONLY)
	if err == nil {
		err = unix.FanotifyMark(fd, unix.FAN_MARK_ADD|unix.FAN_MARK_MOUNT, unix.FAN_OPEN_PERM|unix.FAN_ONDIR, unix.AT_FDCWD, d.Path)
	}
	if err != nil {
		d.t.Skipf("no volume can be made to hang here: %v", err)
	}
	answer = sync.OnceFunc(func() { _ = unix.Close(fd) })
	d.t.Cleanup(answer)
	return answer
}
