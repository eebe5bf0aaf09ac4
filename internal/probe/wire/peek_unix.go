//go:build unix

package wire

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// peekQuiet reports whether nothing is waiting to be read from a socket. For another connection it
// returns true: net/http, which reads a kept connection, notices what arrives. It does not wait for
// a Read in progress.
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
