package wire

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// received is the result of one recvmsg.
type received struct {
	n int
	// stamp is the kernel's receive timestamp as Unix time; stamped is false without one.
	stamp   time.Duration
	stamped bool
}

// receive calls recvmsg once. It does not wait. All that it gives to the kernel is on the stack: unix.Recvmsg allocates,
// and memory of each connection would not be in the CPU's cache.
func receive(fd uintptr, p []byte) (r received, err error) {
	var control struct {
		_     [0]unix.Cmsghdr // aligns the bytes
		bytes [64]byte
	}
	vector := unix.Iovec{Base: &p[0]}
	vector.SetLen(len(p))
	header := unix.Msghdr{Iov: &vector, Control: &control.bytes[0]}
	header.SetIovlen(1)
	header.SetControllen(len(control.bytes))
	// The call does not block, so it does not tell Go's scheduler, which would cost 6 % of the CPU time of a token.
	// MSG_DONTWAIT makes sure of that: a blocking call would stop other goroutines.
	n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&header)), unix.MSG_DONTWAIT)
	for errno == unix.EINTR {
		n, _, errno = unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&header)), unix.MSG_DONTWAIT)
	}
	if errno != 0 {
		return r, errno
	}
	r.n = int(n)
	r.stamp, r.stamped = kernelStamp(control.bytes[:header.Controllen])
	return r, nil
}
