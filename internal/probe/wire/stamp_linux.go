package wire

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"synthetic/internal/probe/stream"
)

// stamp returns c with the kernel's receive timestamps if it has any,
// otherwise with the time of its reads.
func stamp(c net.Conn) stamped {
	if tcp, ok := c.(*net.TCPConn); ok {
		if k, err := newKernelTimed(tcp); err == nil {
			return k
		}
	}
	return &readTimed{Conn: c}
}

// kernelTimed reads with recvmsg and takes the receive timestamp of the last
// segment that each read took bytes from.
type kernelTimed struct {
	*net.TCPConn
	raw   syscall.RawConn
	recv  func(fd uintptr) bool // bound once: a closure per read would allocate
	epoch time.Time             // zero of the monotonic readings
	clock clockMap
	last  stream.Arrival

	mu       sync.Mutex
	deadline time.Time // of reads

	// of the read in progress
	msg message
	n   int
	err error
}

func newKernelTimed(c *net.TCPConn) (*kernelTimed, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil || failed != nil {
		return nil, os.NewSyscallError("setsockopt", failed)
	}
	k := &kernelTimed{TCPConn: c, raw: raw, epoch: time.Now()}
	k.clock.learn(time.Duration(k.epoch.UnixNano()))
	k.recv = k.receive
	return k, nil
}

func (k *kernelTimed) arrival() stream.Arrival { return k.last }

func (k *kernelTimed) quiet() bool { return peekQuiet(k.TCPConn) }

// SetReadDeadline bounds the arrival of what is read.
func (k *kernelTimed) SetReadDeadline(t time.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.deadline = t
	return k.TCPConn.SetReadDeadline(t)
}

// SetDeadline is SetReadDeadline for writes, too.
func (k *kernelTimed) SetDeadline(t time.Time) error {
	return cmp.Or(k.SetReadDeadline(t), k.SetWriteDeadline(t))
}

// Read reads what has arrived, waiting for the first byte.
func (k *kernelTimed) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	k.msg.into(p)
	err := k.raw.Read(k.recv)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = k.lookAgain(err)
	}
	k.msg.into(nil)
	switch {
	case err != nil:
		return 0, err
	case k.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: k.LocalAddr(), Addr: k.RemoteAddr(), Err: os.NewSyscallError("recvmsg", k.err)}
	case k.n == 0:
		return 0, io.EOF
	}
	return k.n, nil
}

// lookAgain reads what waits after the deadline, which forbids only waiting:
// what arrived before it is in time, and it is this process that is late.
func (k *kernelTimed) lookAgain(expired error) error {
	k.mu.Lock()
	deadline := k.deadline
	k.mu.Unlock()
	received := false
	err := k.raw.Control(func(fd uintptr) { received = k.receive(fd) })
	if err != nil || !received || k.last.At.After(deadline) {
		return expired
	}
	return nil
}

// receive does one recvmsg; false asks to be called again when there is
// something to read.
func (k *kernelTimed) receive(fd uintptr) bool {
	switch k.n, k.err = k.msg.receive(fd); k.err {
	case nil:
	case unix.EAGAIN:
		return false
	default:
		return true
	}
	now := time.Now()
	k.last = stream.Arrival{At: now, Seen: now}
	stamp, ok := kernelStamp(k.msg.control())
	if !ok { // the end of the stream, or a system just beginning to stamp
		return true
	}
	elapsed := now.Sub(k.epoch)
	at, trusted := k.clock.arrival(time.Duration(now.UnixNano()), elapsed, stamp)
	k.last.At, k.last.Kernel = now.Add(at-elapsed), trusted
	return true
}

// kernelStamp finds the receive timestamp, in nanoseconds of Unix time, among
// the control messages of a read.
func kernelStamp(b []byte) (time.Duration, bool) {
	for len(b) >= unix.SizeofCmsghdr {
		hdr, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			return 0, false
		}
		if hdr.Level == unix.SOL_SOCKET && hdr.Type == unix.SCM_TIMESTAMPNS {
			return timespec(data)
		}
		b = rest
	}
	return 0, false
}

// timespec reads seconds and nanoseconds of two native words.
func timespec(b []byte) (time.Duration, bool) {
	var sec, nsec int64
	switch len(b) {
	case 16:
		sec = int64(binary.NativeEndian.Uint64(b))
		nsec = int64(binary.NativeEndian.Uint64(b[8:]))
	case 8:
		sec = int64(int32(binary.NativeEndian.Uint32(b)))
		nsec = int64(int32(binary.NativeEndian.Uint32(b[4:])))
	default:
		return 0, false
	}
	return time.Duration(sec)*time.Second + time.Duration(nsec), true
}
