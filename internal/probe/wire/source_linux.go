package wire

import (
	"net"
	"time"
)

// TimestampSource returns where event timestamps come from on this machine:
// "kernel" or "read". It sends itself a byte over loopback to find out; some
// sandboxes accept the socket option and then never stamp.
func TimestampSource() string {
	// The first socket of a system that asks for stamps may get them late.
	for range 3 {
		if kernelStamps() {
			return "kernel"
		}
	}
	return "read"
}

// kernelStamps reports whether a byte sent over loopback comes with a stamp.
func kernelStamps() bool {
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
	timed := stamp(in)
	deadline := time.Now().Add(time.Second)
	out.SetDeadline(deadline)
	timed.SetDeadline(deadline)
	if _, err := out.Write([]byte{1}); err != nil {
		return false
	}
	if _, err := timed.Read(make([]byte, 1)); err != nil {
		return false
	}
	return timed.arrival().Kernel
}
