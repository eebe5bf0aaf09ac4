package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// readAnswer reads an answer with a limit of bytes. It returns the text, the counted bytes and the
// error.
func readAnswer(t *testing.T, answer string, limit int64) (text string, received int64, err error) {
	t.Helper()
	server := serveRaw(t, func(c net.Conn, _ *http.Request) bool {
		io.WriteString(c, answer)
		return false
	})
	r, trace := post(t, server.URL)
	trace.MaxBytes = limit
	resp, err := newClient(t, Options{}).RoundTrip(r)
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return string(all), resp.Body.(*Body).Received(), err
}

// TestMaxBytes checks that every byte of an answer counts, and that the limit is exact.
func TestMaxBytes(t *testing.T) {
	const ok, chunked = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	padding := strings.Repeat("x", 1500)
	squeezed := zip(strings.Repeat("data", 2000))
	for name, tc := range map[string]struct {
		answer string
		more   int64 // counted bytes beyond the length of the answer
	}{
		"a header":          {answer: ok + "X: " + padding + "\r\nContent-Length: 2\r\n\r\nhi"},
		"interim responses": {answer: "HTTP/1.1 103 Early Hints\r\nX: " + padding + "\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi"},
		"a body by length":  {answer: ok + "Content-Length: 1500\r\n\r\n" + padding},
		"a body by its end": {answer: ok + "Connection: close\r\n\r\n" + padding},
		"chunks":            {answer: chunked + strings.Repeat("1\r\nx\r\n", 500) + "0\r\n\r\n"},
		"a chunk extension": {answer: chunked + "2;" + padding + "\r\nhi\r\n0\r\n\r\n"},
		"trailers":          {answer: chunked + "2\r\nhi\r\n0\r\nX: " + padding + "\r\n\r\n"},
		"what gzip becomes": {answer: ok + fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(squeezed), squeezed), more: 8000},
	} {
		t.Run(name, func(t *testing.T) {
			size := int64(len(tc.answer)) + tc.more
			if _, received, err := readAnswer(t, tc.answer, size); err != nil || received != size {
				t.Errorf("bounded by its own %d bytes: %d received, %v", size, received, err)
			}
			_, received, err := readAnswer(t, tc.answer, size-1)
			var unfit *UnfitError
			if !errors.As(err, &unfit) || !strings.Contains(err.Error(), fmt.Sprint(size-1)) {
				t.Errorf("bounded by one byte less: %d received, %v", received, err)
			}
		})
	}
}

// TestBytesOfAKeptConnection checks that each answer is counted separately.
func TestBytesOfAKeptConnection(t *testing.T) {
	server := serveRaw(t, func(c net.Conn, _ *http.Request) bool {
		io.WriteString(c, helloResponse)
		return true
	})
	client := newClient(t, Options{})
	for range 3 {
		r, trace := post(t, server.URL)
		trace.MaxBytes = int64(len(helloResponse))
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Error(err)
		}
		if got := resp.Body.(*Body).Received(); got != trace.MaxBytes {
			t.Errorf("%d bytes received, want %d", got, trace.MaxBytes)
		}
		resp.Body.Close()
	}
	if n := server.conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestContentEncodings(t *testing.T) {
	for coding, readable := range map[string]bool{
		"": true, "identity": true, "gzip": true, "GZIP": true, "x-gzip": true,
		"br": false, "zstd": false, "deflate": false, "gzip, gzip": false, "gzip\r\nContent-Encoding: br": false,
		strings.Repeat("z", 500): false,
	} {
		t.Run(coding, func(t *testing.T) {
			body := "hello"
			if strings.HasSuffix(strings.ToLower(coding), "gzip") {
				body = zip(body)
			}
			text, _, err := readAnswer(t, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", coding, len(body), body), 0)
			var unfit *UnfitError
			switch {
			case readable && (err != nil || text != "hello"):
				t.Errorf("%q, %v", text, err)
			case !readable && (!errors.As(err, &unfit) || !strings.Contains(err.Error(), "not asked for") || len(err.Error()) > 200):
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}
