// Package smalldisk mounts a volume that a test can fill or make read-only.
package smalldisk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
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
		if err := syscall.Unmount(d.Path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
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

// SetReadOnly makes the volume read-only or writable. The kernel refuses the former while a file of the
// volume is open for writing.
func (d Disk) SetReadOnly(readOnly bool) {
	d.t.Helper()
	flags := uintptr(syscall.MS_REMOUNT)
	if readOnly {
		flags |= syscall.MS_RDONLY
	}
	if err := syscall.Mount("", d.Path, "", flags, ""); err != nil {
		d.t.Fatal(err)
	}
}
