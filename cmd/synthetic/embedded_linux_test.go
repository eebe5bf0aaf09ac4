package main

import (
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const emptyRoot = "IN_EMPTY_ROOT"

// TestWithoutBaseImage runs this binary in a root directory without other files, like the
// container image.
func TestWithoutBaseImage(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/"+filepath.Base(self), "-test.run=^TestInEmptyRoot$", "-test.v")
	cmd.Env = []string{emptyRoot + "=yes"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: filepath.Dir(self), Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
	}
	switch out, err := cmd.CombinedOutput(); {
	case errors.Is(err, fs.ErrPermission):
		t.Skipf("this system allows no user namespaces: %v", err)
	case errors.Is(err, fs.ErrNotExist):
		t.Skipf("the test is linked with libraries of this system: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

func TestInEmptyRoot(t *testing.T) {
	if os.Getenv(emptyRoot) == "" {
		t.Skip("TestWithoutBaseImage runs this")
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		t.Fatal(err)
	}
	if roots.Equal(x509.NewCertPool()) {
		t.Error("there are no certificates of public authorities")
	}
	if _, err := time.LoadLocation("Asia/Kathmandu"); err != nil {
		t.Errorf("there are no time zones: %v", err)
	}
}
