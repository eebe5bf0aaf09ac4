//go:build unix

package wire

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// peekQuiet reports whether nothing waits to be read on c, as far as can be
// told: of what is no socket net/http, which reads a kept connection, notices
// what comes. It does not wait for a Read in progress.
func peekQuiet(c net.Conn) (quiet bool) {
	s, isSocket := c.(syscall.Conn)
	if !isSocket {
		return true
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	var b [1]byte
	err = raw.Control(func(fd uintptr) {
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		quiet = err == unix.EAGAIN
	})
	return quiet && err == nil
}
