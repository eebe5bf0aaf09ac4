//go:build unix

package wire

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// peekQuiet reports whether nothing waits to be read on c; ok is false if c is
// no socket.
func peekQuiet(c net.Conn) (quiet, ok bool) {
	s, isSocket := c.(syscall.Conn)
	if !isSocket {
		return false, false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false, true
	}
	var b [1]byte
	err = raw.Read(func(fd uintptr) bool {
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		quiet = err == unix.EAGAIN
		return true
	})
	return quiet && err == nil, true
}
