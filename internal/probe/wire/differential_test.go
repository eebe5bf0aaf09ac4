package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// outcome is the visible result of two requests.
type outcome struct {
	Failed      bool // one of the requests, at any step
	Status      int
	Body        string
	Length      int64
	Trailer     http.Header
	Unzipped    bool
	Connections int32
}

// responses returns the answers to every request of a connection. close says that the connection is
// closed after the first one.
func responses() map[string]struct {
	raw   string
	close bool
} {
	type response = struct {
		raw   string
		close bool
	}
	const ok = "HTTP/1.1 200 OK\r\n"
	const chunks = ok + "Transfer-Encoding: chunked\r\n\r\n"
	zipped := zip("hello, gzip")
	return map[string]response{
		"content length":           {ok + "Content-Length: 5\r\n\r\nhello", false},
		"content length 0":         {ok + "Content-Length: 0\r\n\r\n", false},
		"until close":              {ok + "\r\nhello", true},
		"until close, empty":       {ok + "\r\n", true},
		"connection: close":        {ok + "Connection: close\r\nContent-Length: 5\r\n\r\nhello", false},
		"HTTP/1.0":                 {"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", true},
		"chunked":                  {chunks + "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n", false},
		"chunked, nothing":         {chunks + "0\r\n\r\n", false},
		"chunk extensions":         {chunks + "5;a=b;c=\"d e\"\r\nhello\r\n0;x\r\n\r\n", false},
		"chunk size padded":        {chunks + "5 \t\r\nhello\r\n000\r\n\r\n", false},
		"chunk size in capitals":   {chunks + "A\r\n0123456789\r\n0\r\n\r\n", false},
		"trailers":                 {ok + "Transfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n5\r\nhello\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n", false},
		"trailers, malformed":      {chunks + "5\r\nhello\r\n0\r\nno colon\r\n\r\n", false},
		"trailers, cut":            {chunks + "5\r\nhello\r\n0\r\nX-A: 1\r\n", true},
		"100 continue":             {"HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 5\r\n\r\nhello", false},
		"103 early hints":          {"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + ok + "Content-Length: 5\r\n\r\nhello", false},
		"204":                      {"HTTP/1.1 204 No Content\r\n\r\n", false},
		"304":                      {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false},
		"404":                      {"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", false},
		"redirect":                 {"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", false},
		"gzip":                     {fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", ok, len(zipped), zipped), false},
		"gzip, chunked":            {fmt.Sprintf("%sContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", ok, len(zipped), zipped), false},
		"gzip, until close":        {ok + "Content-Encoding: gzip\r\n\r\n" + zipped, true},
		"gzip, cut":                {ok + "Content-Encoding: gzip\r\n\r\n" + zipped[:len(zipped)-9], true},
		"gzip, empty":              {ok + "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", false},
		"gzip in name only":        {ok + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", true},
		"header names in any case": {ok + "content-LENGTH: 5\r\nx-a: b\r\n\r\nhello", false},
		"bare LF in headers":       {"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", false},
		"content length twice":     {ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", false},
		"content length unsure":    {ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", true},
		"content length nonsense":  {ok + "Content-Length: five\r\n\r\nhello", true},
		"length and chunked":       {ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", false},
		"unknown transfer coding":  {ok + "Transfer-Encoding: snail\r\n\r\nhello", true},
		"no bytes":                 {"", true},
		"status line cut":          {"HTTP/1.1 20", true},
		"headers cut":              {ok + "Content-Le", true},
		"bad status line":          {"SSH-2.0-OpenSSH\r\n\r\n", true},
		"bad status":               {"HTTP/1.1 two hundred\r\n\r\n", true},
		"bad header":               {ok + "no colon\r\n\r\n", true},
		"headers too large":        {ok + "X: " + strings.Repeat("x", 70<<10) + "\r\n\r\n", true},
		"endless interim":          {strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 20), true},
		"body cut":                 {ok + "Content-Length: 50\r\n\r\nhello", true},
		"chunk cut":                {chunks + "50\r\nhello", true},
		"chunked cut":              {chunks + "5\r\nhello\r\n", true},
		"chunk size cut":           {chunks + "5\r\nhello\r\n1", true},
		"chunk size empty":         {chunks + "\r\nhello\r\n0\r\n\r\n", true},
		"chunk size nonsense":      {chunks + "five\r\nhello\r\n0\r\n\r\n", true},
		"chunk size too large":     {chunks + "fffffffffffffffff\r\nhello\r\n0\r\n\r\n", true},
		"chunk size, bare LF":      {chunks + "5\nhello\r\n0\r\n\r\n", true},
		"chunk size, bare CR":      {chunks + "5\rhello\r\n0\r\n\r\n", true},
		"chunk longer than said":   {chunks + "3\r\nhello\r\n0\r\n\r\n", true},
		"endless extension":        {chunks + "5;" + strings.Repeat("x", 8<<10) + "\r\nhello\r\n0\r\n\r\n", true},
	}
}

func zip(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.String()
}

// TestSameAsNetHTTP checks that the client behaves like net/http's own transport.
func TestSameAsNetHTTP(t *testing.T) {
	for name, response := range responses() {
		for _, method := range []string{http.MethodPost, http.MethodHead} {
			if method == http.MethodHead && (response.close || strings.HasPrefix(response.raw, "HTTP/1.1 1")) {
				continue // these headers are invalid without a body
			}
			t.Run(method+" "+name, func(t *testing.T) {
				transport := &http.Transport{MaxResponseHeaderBytes: maxHeaderBytes}
				t.Cleanup(transport.CloseIdleConnections)
				want := observe(t, transport, method, response.raw, response.close)
				got := observe(t, newClient(t, Options{}), method, response.raw, response.close)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-net/http +wire):\n%s", diff)
				}
			})
		}
	}
}

// observe sends two requests to a new server.
func observe(t *testing.T, rt http.RoundTripper, method, raw string, close bool) outcome {
	t.Helper()
	server := serveRaw(t, func(c net.Conn, r *http.Request) bool {
		answer := raw
		if head, _, found := strings.Cut(raw, "\r\n\r\n"); found && r.Method == http.MethodHead {
			answer = head + "\r\n\r\n"
		}
		io.WriteString(c, answer)
		return !close
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var o outcome
	for range 2 {
		r, err := http.NewRequestWithContext(ctx, method, server.URL, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := rt.RoundTrip(r)
		if err != nil {
			o.Failed = true
			continue
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		o.Failed = o.Failed || err != nil
		o.Status, o.Body, o.Length = resp.StatusCode, string(body), resp.ContentLength
		o.Trailer, o.Unzipped = resp.Trailer, resp.Uncompressed
		waitQuiet(rt)
	}
	o.Connections = server.conns.Load()
	return o
}

// waitQuiet waits until net/http has taken the connection back. This package does so at once.
func waitQuiet(rt http.RoundTripper) {
	if _, ok := rt.(*http.Transport); ok {
		time.Sleep(5 * time.Millisecond)
	}
}
