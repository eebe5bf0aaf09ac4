package probe_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"synthetic/internal/probe"
)

// blackHole returns the address of a socket that answers no new connection: its queue is full.
func blackHole(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	for range 10 {
		c, err := net.DialTimeout("tcp", addr, 300*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("the queue of this kernel takes every connection")
	return ""
}

// neverAccepts returns the address of a listener on which only the kernel answers.
func neverAccepts(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// TestKernelProvesSilence lets a peer be silent in each phase, with a prober that does not run for most of
// the time. The kernel shows that only the peer could continue.
func TestKernelProvesSilence(t *testing.T) {
	lost := func(from, to time.Time) time.Duration {
		if to.Sub(from) > 500*time.Millisecond { // after the peer was asked
			return 2 * time.Second
		}
		return 0
	}
	throttled := late{lost, lost}
	for name, tc := range map[string]struct {
		url     func(t *testing.T) string
		outcome probe.Outcome
	}{
		"connect": {func(t *testing.T) string { return "http://" + blackHole(t) }, probe.ConnectError},
		"TLS":     {func(t *testing.T) string { return "https://" + neverAccepts(t) }, probe.TLSError},
		"request": {func(t *testing.T) string { return "http://" + play(t, &scripted{hold: true}).addr }, probe.TimeoutFirstToken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options("")
			o.Target.BaseURL, o.Lag = tc.url(t)+"/v1", throttled
			o.Workload.Timeouts.FirstToken = time.Second
			if r := once(t, o); r.Outcome != tc.outcome || r.Proof != probe.Silent {
				t.Errorf("%s, %s (%s), want %s, %s", r.Outcome, r.Proof, r.Err, tc.outcome, probe.Silent)
			}
		})
	}
}
