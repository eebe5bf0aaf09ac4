package wire

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newTimedConn uses the kernel's receive timestamps if it can, and else the time of reads.
func newTimedConn(c net.Conn) timedConn {
	if tcp, ok := c.(*net.TCPConn); ok {
		if timed := newKernelTimed(tcp); timed != nil {
			return timed
		}
	}
	return &readTimed{Conn: c}
}

// kernelTimed reads with recvmsg. The arrival of a read is the receive timestamp of the last segment that
// it read.
type kernelTimed struct {
	*net.TCPConn
	raw     syscall.RawConn
	receive func(fd uintptr) bool // receiveOnce; a closure per read would allocate
	epoch   time.Time             // zero of the monotonic times
	clock   clockMap
	last    Arrival
	// The current read: its buffer and its result.
	buf []byte
	n   int
	err error

	mu sync.Mutex
	// late holds bytes that were read after a deadline which they missed. A later deadline permits
	// them. Reads use only what stands before lateArrival, so that it takes few lines of the CPU's cache.
	late         []byte
	lateArrival  Arrival
	readDeadline time.Time
	// unstamped is true if bytes were there after a deadline, but the kernel did not say since when.
	unstamped atomic.Bool
}

// newKernelTimed returns nil if the kernel takes no timestamps.
func newKernelTimed(c *net.TCPConn) *kernelTimed {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	enabled := false
	err = raw.Control(func(fd uintptr) {
		enabled = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) == nil
	})
	if err != nil || !enabled {
		return nil
	}
	k := &kernelTimed{TCPConn: c, raw: raw, epoch: time.Now()}
	k.clock.learn(time.Duration(k.epoch.UnixNano()))
	k.receive = k.receiveOnce
	return k
}

func (k *kernelTimed) arrival() Arrival { return k.last }

func (k *kernelTimed) quiet() bool {
	k.mu.Lock()
	late := len(k.late) > 0
	k.mu.Unlock()
	return !late && peekQuiet(k.TCPConn)
}

func (k *kernelTimed) provesSilence() bool { return !k.unstamped.Load() }

// SetReadDeadline sets the deadline of the arrival, not of the reading.
func (k *kernelTimed) SetReadDeadline(t time.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.readDeadline = t
	return k.TCPConn.SetReadDeadline(t)
}

func (k *kernelTimed) SetDeadline(t time.Time) error {
	return cmp.Or(k.SetReadDeadline(t), k.SetWriteDeadline(t))
}

// Read reads bytes that have arrived, and waits for the first one.
func (k *kernelTimed) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if n, err := k.readLate(p); n > 0 || err != nil {
		return n, err
	}
	k.buf = p
	err := k.raw.Read(k.receive)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = k.readAfterDeadline(p, err)
	}
	k.buf = nil
	switch {
	case err != nil:
		return 0, err
	case k.err != nil:
		err := os.NewSyscallError("recvmsg", k.err)
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: k.LocalAddr(), Addr: k.RemoteAddr(), Err: err}
	case k.n == 0:
		return 0, io.EOF
	}
	return k.n, nil
}

// readLate returns bytes that missed an earlier deadline, if they are in time for the present one.
func (k *kernelTimed) readLate(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.late) == 0 {
		return 0, nil
	}
	if !k.readDeadline.IsZero() && k.lateArrival.At.After(k.readDeadline) {
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, k.late)
	k.late, k.last = k.late[n:], k.lateArrival
	return n, nil
}

// readAfterDeadline reads without waiting. Bytes that arrived before the deadline are in time: it is
// this process that is late. Others are kept.
func (k *kernelTimed) readAfterDeadline(p []byte, expired error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	deadline, received := k.readDeadline, false
	err := k.raw.Control(func(fd uintptr) { received = k.receiveOnce(fd) })
	if err != nil || !received || k.last.At.After(deadline) {
		k.unstamped.Store(err != nil || received && !k.last.Kernel)
		if err == nil && received && k.err == nil && k.n > 0 {
			k.late, k.lateArrival = bytes.Clone(p[:k.n]), k.last
		}
		return expired
	}
	return nil
}

// receiveOnce calls recvmsg. It returns false if there is nothing to read.
func (k *kernelTimed) receiveOnce(fd uintptr) bool {
	r, err := receive(fd, k.buf)
	if err == unix.EAGAIN {
		return false
	}
	k.n, k.err = r.n, err
	if err != nil {
		return true
	}
	now := time.Now()
	k.last = Arrival{At: now, Seen: now}
	if !r.stamped { // the end of the stream, or the kernel does not yet take timestamps
		return true
	}
	elapsed := now.Sub(k.epoch)
	at, trusted := k.clock.arrival(time.Duration(now.UnixNano()), elapsed, r.stamp)
	k.last.At, k.last.Kernel = now.Add(at-elapsed), trusted
	return true
}

// kernelStamp returns the receive timestamp in the control messages of a read, as Unix time.
func kernelStamp(b []byte) (time.Duration, bool) {
	for len(b) >= unix.SizeofCmsghdr {
		header, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			return 0, false
		}
		if header.Level == unix.SOL_SOCKET && header.Type == unix.SCM_TIMESTAMPNS {
			if len(data) != int(unsafe.Sizeof(unix.Timespec{})) {
				return 0, false
			}
			return time.Duration((*unix.Timespec)(unsafe.Pointer(&data[0])).Nano()), true
		}
		b = rest
	}
	return 0, false
}

// TimestampSource returns where the timestamps of events come from on this machine: "kernel" or
// "read". To find out, it sends itself a byte over loopback, because some sandboxes accept the
// socket option but take no timestamps.
func TimestampSource() string {
	// The first socket of a system that asks for timestamps may get them late.
	for range 3 {
		if hasKernelStamps() {
			return "kernel"
		}
	}
	return "read"
}

// hasKernelStamps reports whether a byte sent over loopback has a timestamp.
func hasKernelStamps() bool {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return false
	}
	defer out.Close()
	in, err := l.Accept()
	if err != nil {
		return false
	}
	defer in.Close()
	timed := newTimedConn(in)
	deadline := time.Now().Add(time.Second)
	if errors.Join(out.SetDeadline(deadline), timed.SetDeadline(deadline)) != nil {
		return false
	}
	_, sendErr := out.Write([]byte{1})
	_, receiveErr := timed.Read(make([]byte, 1))
	return sendErr == nil && receiveErr == nil && timed.arrival().Kernel
}

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
