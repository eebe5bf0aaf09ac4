package wire

import (
	"context"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dialedSockets has duplicates of the sockets of a dial. The dialer closes its own at the deadline;
// the duplicates then show whether the peer has answered.
type dialedSockets struct {
	mu    sync.Mutex
	files []int
	// asked is when the last address was tried; zero if a socket could not be duplicated.
	asked time.Time
}

// add duplicates the socket of an address. The dialer calls it immediately before it connects.
func (s *dialedSockets) add(_ context.Context, _, _ string, c syscall.RawConn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, failed := -1, error(nil)
	err := c.Control(func(fd uintptr) { file, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil || failed != nil {
		s.asked = time.Time{}
		return nil // only evidence is lost
	}
	s.files, s.asked = append(s.files, file), time.Now()
	return nil
}

// anyOpen reports whether the kernel has a connection that the dialer did not notice in time.
func (s *dialedSockets) anyOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, file := range s.files {
		info, err := unix.GetsockoptTCPInfo(file, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil && info.State == unix.BPF_TCP_ESTABLISHED {
			return true
		}
	}
	return false
}

func (s *dialedSockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, file := range s.files {
		unix.Close(file)
	}
}
