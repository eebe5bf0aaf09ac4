package atomicfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// keepName reserves a name of the lock file in the abstract socket namespace, made from the
// directory's device and inode. The error is EADDRINUSE if another process has it. Other errors
// only mean that the lock file alone must do.
func keepName(lockFile string) (io.Closer, error) {
	info, err := os.Stat(filepath.Dir(lockFile))
	if err != nil {
		return nil, err
	}
	dir := info.Sys().(*syscall.Stat_t)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	socket := os.NewFile(uintptr(fd), "lock")
	name := fmt.Sprintf("@synthetic/%x/%x/%.60s", dir.Dev, dir.Ino, filepath.Base(lockFile))
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: name}); err != nil {
		socket.Close()
		return nil, err
	}
	return socket, nil
}
