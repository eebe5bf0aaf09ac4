package wire

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestKeptConnectionThatDied has a server that closes the kept connection between two requests.
// Neither fails, even if the second follows at once.
func TestKeptConnectionThatDied(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hangUp, hungUp := make(chan struct{}), make(chan struct{})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r, err := http.ReadRequest(bufio.NewReader(c))
			if err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			}
			<-hangUp
			c.Close()
			hungUp <- struct{}{}
		}
	}()
	client := New(Options{})
	defer client.CloseIdleConnections()
	for i := range 60 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String(), strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.RoundTrip(req)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "ok" {
			t.Fatalf("request %d: %q, %v", i, body, err)
		}
		resp.Body.Close()
		hangUp <- struct{}{}
		<-hungUp
	}
}
