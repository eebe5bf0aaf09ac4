//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// fullSocket is a listening socket whose queue is full, so that the kernel drops the packets
// that would open another connection.
type fullSocket struct {
	fd     int
	queued []net.Conn
}

// listenFull listens on an address of loopback and fills the queue.
func listenFull(addr string) (*fullSocket, error) {
	at, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	s := &fullSocket{fd: fd}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), // for the port that a server has just left
		unix.Bind(fd, &unix.SockaddrInet4{Port: at.Port, Addr: [4]byte(at.IP.To4())}),
		unix.Listen(fd, 0),
	)
	for err == nil && len(s.queued) < 10 {
		c, refused := net.DialTimeout("tcp", addr, 300*time.Millisecond)
		if refused != nil {
			return s, nil
		}
		s.queued = append(s.queued, c)
	}
	if err == nil {
		err = fmt.Errorf("the queue of this kernel took %d connections and is not full", len(s.queued))
	}
	_ = s.Close()
	return nil, err
}

func (s *fullSocket) Close() error {
	for _, c := range s.queued {
		_ = c.Close()
	}
	return unix.Close(s.fd)
}
