package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pair returns two ends of a TCP connection.
func pair(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return out.(*net.TCPConn), in.(*net.TCPConn)
}

// awaitStamps writes until segments have timestamps. Linux starts with them a moment after the first
// socket asked for them, and later on a busy machine.
func awaitStamps(t *testing.T, timed timedConn, far net.Conn) {
	t.Helper()
	buf := make([]byte, 10)
	for range 10_000 {
		if _, err := far.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		if _, err := timed.Read(buf); err != nil {
			t.Fatal(err)
		}
		if timed.arrival().Kernel {
			return
		}
	}
	t.Fatal("no segment has a timestamp")
}

// TestKernelStampsOutliveALateRead checks that a late read does not change the arrival.
func TestKernelStampsOutliveALateRead(t *testing.T) {
	if TimestampSource() != "kernel" {
		t.Skip("this system takes no receive timestamps")
	}
	near, far := pair(t)
	timed := newTimedConn(near)
	buf := make([]byte, 10)
	awaitStamps(t, timed, far)
	for i := range 3 {
		before := time.Now()
		if _, err := far.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		after := time.Now()
		time.Sleep(20 * time.Millisecond) // the late read itself, no waiting for anything
		if n, err := timed.Read(buf); n != 3 || err != nil {
			t.Fatal(n, err)
		}
		a := timed.arrival()
		if !a.Kernel || a.At.Before(before) || a.At.After(after) {
			t.Errorf("read %d: arrival %v after the write began and %v before it ended", i, a.At.Sub(before), after.Sub(a.At))
		}
		if lag := a.Seen.Sub(a.At); lag < 20*time.Millisecond {
			t.Errorf("read %d: a lag of %v", i, lag)
		}
	}
}

// TestReadAfterTheDeadline checks that bytes that arrived before the deadline are returned after it,
// and that later bytes are not.
func TestReadAfterTheDeadline(t *testing.T) {
	if TimestampSource() != "kernel" {
		t.Skip("this system takes no receive timestamps")
	}
	near, far := pair(t)
	timed := newTimedConn(near)
	awaitStamps(t, timed, far)
	buf := make([]byte, 10)
	write := func() {
		if _, err := far.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		for timed.quiet() { // until the kernel has delivered it
			runtime.Gosched()
		}
	}
	write()
	deadline := time.Now()
	timed.SetReadDeadline(deadline)
	if n, err := timed.Read(buf); n != 3 || err != nil || timed.arrival().At.After(deadline) {
		t.Errorf("in time: %d bytes, %v, %v before the deadline", n, err, deadline.Sub(timed.arrival().At))
	}
	if _, err := timed.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing: %v", err)
	}
	write()
	if _, err := timed.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("too late: %v", err)
	}
}

func TestKernelTimedEnds(t *testing.T) {
	near, far := pair(t)
	timed := newTimedConn(near)
	if !timed.quiet() {
		t.Error("a fresh connection is not quiet")
	}
	if n, err := timed.Read(nil); n != 0 || err != nil {
		t.Errorf("an empty read: %d, %v", n, err)
	}
	far.CloseWrite()
	if n, err := timed.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if timed.quiet() {
		t.Error("a closed connection is quiet")
	}
	far.SetLinger(0)
	far.Close()
	near.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := timed.Read(make([]byte, 1)); err == nil {
		t.Error("read from a reset connection")
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	near, far := pair(t)
	timed := newTimedConn(near)
	buf, message := make([]byte, 64), []byte("hello")
	if n := testing.AllocsPerRun(200, func() {
		if _, err := far.Write(message); err != nil {
			t.Fatal(err)
		}
		if _, err := timed.Read(buf); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per read", n)
	}
}

func TestKernelStamp(t *testing.T) {
	ts := make([]byte, 16)
	ts[0], ts[8] = 3, 7
	for name, test := range map[string]struct {
		control []byte
		want    time.Duration
		ok      bool
	}{
		"none":          {nil, 0, false},
		"cut":           {[]byte{1, 2, 3}, 0, false},
		"a stamp":       {controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS, ts), 3*time.Second + 7, true},
		"after another": {append(controlMessage(unix.SOL_IP, 1, make([]byte, 8)), controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS, ts)...), 3*time.Second + 7, true},
		"odd size":      {controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS, make([]byte, 5)), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := kernelStamp(test.control); got != test.want || ok != test.ok {
				t.Errorf("got %v, %v", got, ok)
			}
		})
	}
}

// controlMessage returns a control message in the kernel's layout.
func controlMessage(level, kind int32, data []byte) []byte {
	b := make([]byte, unix.CmsgSpace(len(data)))
	h := unix.Cmsghdr{Level: level, Type: kind}
	h.SetLen(unix.CmsgLen(len(data)))
	*(*unix.Cmsghdr)(unsafe.Pointer(&b[0])) = h
	copy(b[unix.CmsgLen(0):], data)
	return b
}
