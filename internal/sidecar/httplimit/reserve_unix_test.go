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

// TestNoDescriptorsLeft: a process without descriptors goes on to answer, one
// reserved descriptor for each connection.
func TestNoDescriptorsLeft(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := newConnections(100)
	server := NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }), c, slog.New(slog.DiscardHandler))
	guarded := c.Limit(l)
	// The clients are there before the descriptors are gone; nobody accepts yet.
	var clients []net.Conn
	for range reserved {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		clients = append(clients, client)
	}
	give := takeAllDescriptors(t)
	done := make(chan error, 1)
	go func() { done <- server.Serve(guarded) }()
	for i, client := range clients {
		client.SetDeadline(time.Now().Add(30 * time.Second))
		if _, err := client.Write([]byte(get)); err != nil {
			t.Fatal(err)
		}
		if r := answerOf(client); r == nil || r.StatusCode != http.StatusTeapot {
			t.Errorf("client %d got %+v", i, r)
		}
	}
	give()
	server.Close()
	<-done
}

// takeAllDescriptors opens files until no more can be had.
func takeAllDescriptors(t *testing.T) (give func()) {
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

// TestSlowReadersCostLittle: the kernel takes no more of an answer than its
// share, whatever the page weighs.
func TestSlowReadersCostLittle(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	guarded := newConnections(1).Limit(l)
	defer guarded.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	accepted, err := guarded.Accept()
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
