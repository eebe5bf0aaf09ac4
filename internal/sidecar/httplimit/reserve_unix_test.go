//go:build unix

package httplimit

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNoDescriptorsLeft checks that a process without free descriptors still answers. It uses one
// reserved descriptor for each connection.
func TestNoDescriptorsLeft(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := newConnections(100)
	server := NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }), c, slog.New(slog.DiscardHandler))
	limited := c.Limit(l)
	// Connect before all descriptors are used. The server does not accept yet.
	var clients []net.Conn
	for range reserveSize {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		clients = append(clients, client)
	}
	closeAll := takeAllDescriptors(t)
	done := make(chan error, 1)
	go func() { done <- server.Serve(limited) }()
	for i, client := range clients {
		client.SetDeadline(time.Now().Add(30 * time.Second))
		if _, err := client.Write([]byte(get)); err != nil {
			t.Fatal(err)
		}
		if r := answerOf(client); r == nil || r.StatusCode != http.StatusTeapot {
			t.Errorf("client %d got %+v", i, r)
		}
	}
	closeAll()
	server.Close()
	<-done
}

// takeAllDescriptors opens files until it fails.
func takeAllDescriptors(t *testing.T) (closeAll func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	lower := unix.Rlimit{Cur: min(before.Cur, 256), Max: before.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lower); err != nil {
		t.Fatal(err)
	}
	var files []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if errors.Is(err, syscall.EMFILE) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return func() {
		for _, f := range files {
			f.Close()
		}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSlowReadersCostLittle checks that the kernel buffers only sendBuffer of an answer.
func TestSlowReadersCostLittle(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := newConnections(1).Limit(l)
	defer limited.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	accepted, err := limited.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	raw, err := accepted.(*conn).Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var size int
	if err := raw.Control(func(fd uintptr) { size, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF) }); err != nil {
		t.Fatal(err)
	}
	if err != nil || size > 2*sendBuffer {
		t.Errorf("the kernel may hold %d bytes (%v), want %d at most", size, err, 2*sendBuffer)
	}
}
