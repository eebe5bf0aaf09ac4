//go:build linux

package main

import (
	"context"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stampedListener accepts connections that know when their last bytes arrived in the kernel. The server may read them
// later: then it was the server that made the client wait.
type stampedListener struct{ net.Listener }

// listenStamped listens on a free port. The connections inherit the option of the listener, so it holds for bytes that
// arrive before a connection is accepted.
func listenStamped() (stampedListener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		failed := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
		if failed != nil {
			return failed
		}
		return err
	}}
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	return stampedListener{l}, err
}

func (l stampedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	return &stamped{Conn: c, raw: raw}, err
}

// stamped is a connection of a stampedListener.
type stamped struct {
	net.Conn
	raw  syscall.RawConn
	last atomic.Int64 // Unix time in ns; 0 if the kernel did not say when the bytes of the last read arrived
}

// arrival returns false if the kernel did not say when the last bytes arrived.
func (c *stamped) arrival() (time.Time, bool) {
	last := c.last.Load()
	return time.Unix(0, last), last != 0
}

func (c *stamped) Read(p []byte) (n int, err error) {
	var control [64]byte
	var used int
	failed := c.raw.Read(func(fd uintptr) bool {
		n, used, _, _, err = unix.Recvmsg(int(fd), p, control[:], unix.MSG_DONTWAIT)
		return err != unix.EAGAIN
	})
	if failed != nil {
		return 0, failed
	}
	if err != nil {
		return 0, os.NewSyscallError("recvmsg", err)
	}
	if n == 0 {
		return 0, io.EOF
	}
	messages, err := unix.ParseSocketControlMessage(control[:used])
	var stamp int64
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS {
			stamp = (*unix.Timespec)(unsafe.Pointer(&m.Data[0])).Nano()
		}
	}
	c.last.Store(stamp)
	return n, err
}
