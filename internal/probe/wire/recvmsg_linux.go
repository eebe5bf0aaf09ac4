package wire

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// message holds the arguments of recvmsg. Each connection keeps one, because unix.Recvmsg allocates
// at each call.
type message struct {
	header  unix.Msghdr
	vector  unix.Iovec
	control [64]byte // control messages
	used    int      // bytes of control
}

func (m *message) setBuffer(p []byte) {
	m.vector = unix.Iovec{}
	if len(p) > 0 {
		m.vector.Base = &p[0]
		m.vector.SetLen(len(p))
	}
}

// receive calls recvmsg once. It does not wait.
func (m *message) receive(fd uintptr) (int, error) {
	for {
		m.header = unix.Msghdr{Iov: &m.vector, Control: &m.control[0]}
		m.header.SetIovlen(1)
		m.header.SetControllen(len(m.control))
		// The call does not block, so it does not tell Go's scheduler, which would cost 6 % of the CPU time of a token.
		// MSG_DONTWAIT makes sure of that: a blocking call would stop other goroutines.
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&m.header)), unix.MSG_DONTWAIT)
		switch errno {
		case 0:
			m.used = int(m.header.Controllen)
			return int(n), nil
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return 0, unix.EAGAIN // errno itself would allocate
		}
		return 0, errno
	}
}
