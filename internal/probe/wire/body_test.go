package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// dribble returns a client of a server that sends the parts one second apart.
func dribble(t *testing.T, head string, parts ...string) *Client {
	return pipe(t, func(c net.Conn) {
		readRequest(c)
		io.WriteString(c, "HTTP/1.1 200 OK\r\n"+head+"\r\n\r\n")
		for _, p := range parts {
			time.Sleep(time.Second)
			io.WriteString(c, p)
		}
	})
}

// TestGzipArrivals checks that gzip is decoded while it streams: the bytes of each flush have the
// arrival of that flush.
func TestGzipArrivals(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	var parts []string
	for _, text := range []string{"one", "two", "three"} {
		zipped.Reset()
		io.WriteString(w, text)
		w.Flush()
		parts = append(parts, zipped.String())
	}
	zipped.Reset()
	w.Close()
	parts = append(parts, zipped.String())

	synctest.Test(t, func(t *testing.T) {
		client := dribble(t, "Content-Encoding: gzip\r\nConnection: close", parts...)
		r, _ := post(t, "http://test/")
		start := time.Now()
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body := resp.Body.(*Body)
		for i, want := range []string{"one", "two", "three"} {
			buf := make([]byte, 100)
			n, err := body.Read(buf)
			at := body.Arrival().At.Sub(start)
			if string(buf[:n]) != want || err != nil || at != time.Duration(i+1)*time.Second {
				t.Errorf("got %q at %v, %v", buf[:n], at, err)
			}
		}
		if _, err := body.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	})
}

// TestChunkedCutAnywhere cuts a chunked body at every position. Each byte has the arrival of its
// part.
func TestChunkedCutAnywhere(t *testing.T) {
	for _, coded := range []string{
		"4\r\nabcd\r\n1\r\ne\r\n0\r\nX-T: v\r\n\r\n",
		"4\r\nabcd\r\n1;x=y\r\ne\r\n0\r\nX-T: v\r\n\r\n", // net/http reads the second chunk
		"4;x=y\r\nabcd\r\n1\r\ne\r\n0\r\nX-T: v\r\n\r\n",
	} {
		testChunkedCutAnywhere(t, coded, "abcde")
	}
}

func testChunkedCutAnywhere(t *testing.T, coded, plain string) {
	for size := 1; size <= 8; size++ {
		synctest.Test(t, func(t *testing.T) {
			var parts []string
			for rest := coded; rest != ""; rest = rest[min(size, len(rest)):] {
				parts = append(parts, rest[:min(size, len(rest))])
			}
			client := dribble(t, "Transfer-Encoding: chunked", parts...)
			r, _ := post(t, "http://test/")
			start := time.Now()
			resp, err := client.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var got strings.Builder
			for buf := make([]byte, 3); ; {
				n, err := resp.Body.Read(buf)
				got.Write(buf[:n])
				if err == io.EOF {
					break
				}
				at := resp.Body.(*Body).Arrival().At.Sub(start)
				from := strings.Index(coded, string(buf[:n]))
				if want := time.Duration((from+n-1)/size+1) * time.Second; err != nil || at != want {
					t.Errorf("%q in parts of %d: %q at %v, want %v (%v)", coded, size, buf[:n], at, want, err)
				}
			}
			if got.String() != plain || resp.Trailer.Get("X-T") != "v" {
				t.Errorf("%q in parts of %d: got %q and trailers %v", coded, size, got.String(), resp.Trailer)
			}
		})
	}
}

// dataWithEOF returns the last bytes together with io.EOF, as TLS does.
type dataWithEOF struct {
	net.Conn
	io.Reader
}

func (c dataWithEOF) Read(p []byte) (int, error) { return c.Reader.Read(p) }

func TestBytesWithTheEnd(t *testing.T) {
	client := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			readRequest(far)
			io.WriteString(far, "HTTP/1.1 200 OK\r\n\r\nhello")
		}()
		return dataWithEOF{near, iotest.DataErrReader(near)}, nil
	}})
	if _, _, body := get(t, client, "http://test/"); body != "hello" {
		t.Errorf("got %q", body)
	}
}
