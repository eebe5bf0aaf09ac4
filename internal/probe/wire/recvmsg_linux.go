package wire

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// message holds what recvmsg fills. It lives with its connection, because
// unix.Recvmsg allocates at each call.
type message struct {
	hdr  unix.Msghdr
	iov  unix.Iovec
	room [64]byte // for control messages
	used int      // of the room
}

// into makes p, if any, the place for the next bytes.
func (m *message) into(p []byte) {
	m.iov = unix.Iovec{}
	if len(p) > 0 {
		m.iov.Base = &p[0]
		m.iov.SetLen(len(p))
	}
}

// receive does one recvmsg on a socket that does not block.
func (m *message) receive(fd uintptr) (int, error) {
	for {
		m.hdr = unix.Msghdr{Iov: &m.iov, Control: &m.room[0]}
		m.hdr.SetIovlen(1)
		m.hdr.SetControllen(len(m.room))
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&m.hdr)), 0)
		switch errno {
		case 0:
			m.used = int(m.hdr.Controllen)
			return int(n), nil
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return 0, unix.EAGAIN // the same as errno, without an allocation
		}
		return 0, errno
	}
}

// control returns the control messages of the last receive.
func (m *message) control() []byte { return m.room[:m.used] }
