package wire

import (
	"context"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dialedSockets has duplicates of the sockets of a dial: the last one of each address family. The
// dialer closes its own at the deadline; the duplicates then show whether the peer has answered.
type dialedSockets struct {
	mu     sync.Mutex
	closed bool
	files  map[string]int // by network: tcp4, tcp6
	// first is when the first address was tried. failed is true if a socket could not be duplicated.
	first  time.Time
	failed bool
}

// add duplicates the socket of an address. The dialer calls it immediately before it connects, for a
// second address perhaps after close.
func (s *dialedSockets) add(_ context.Context, network, _ string, c syscall.RawConn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if previous, ok := s.files[network]; ok {
		unix.Close(previous)
		delete(s.files, network)
	}
	file, failed := -1, error(nil)
	err := c.Control(func(fd uintptr) { file, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil || failed != nil {
		s.failed = true
		return nil // only evidence is lost
	}
	if s.files == nil {
		s.files, s.first = map[string]int{}, time.Now()
	}
	s.files[network] = file
	return nil
}

// evidence returns, after a deadline, since when the peer was asked and did not answer; zero if the
// kernel does not prove that. open is true if the kernel has a connection that the dialer did not
// notice in time.
func (s *dialedSockets) evidence() (asked time.Time, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, file := range s.files {
		info, err := unix.GetsockoptTCPInfo(file, unix.IPPROTO_TCP, unix.TCP_INFO)
		switch {
		case err != nil:
			return time.Time{}, false
		case info.State != unix.BPF_TCP_SYN_SENT && info.State != unix.BPF_TCP_CLOSE:
			return time.Time{}, true
		}
	}
	if s.failed {
		return time.Time{}, false
	}
	return s.first, false
}

func (s *dialedSockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, file := range s.files {
		unix.Close(file)
	}
}
