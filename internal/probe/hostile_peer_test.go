package probe_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// habit describes how a peer misbehaves, on purpose or by mistake.
type habit struct {
	name string
	// speak answers a request. If deaf is true, the request is not read first.
	speak func(*peer)
	deaf  bool
	// patient habits end by themselves or at a limit in bytes. The others need a short deadline.
	patient bool
	tls     bool
	want    []probe.Outcome
}

// peer is the server's end of one connection.
type peer struct {
	net.Conn
	wrote *atomic.Int64
}

// put writes and reports whether the other side still reads.
func (p *peer) put(b []byte) bool {
	n, err := p.Conn.Write(b)
	p.wrote.Add(int64(n))
	return err == nil
}

func (p *peer) say(text ...string) bool { return p.put([]byte(strings.Join(text, ""))) }

// forever repeats a text, in large writes, until the other side has disconnected.
func (p *peer) forever(text string) {
	block := bytes.Repeat([]byte(text), 1+(32<<10)/len(text))
	for p.put(block) {
	}
}

// spell writes each byte of a text in its own segment.
func (p *peer) spell(text string) {
	for i := range len(text) {
		if !p.say(text[i : i+1]) {
			return
		}
	}
}

// trickle repeats a text byte by byte.
func (p *peer) trickle(text string) {
	for {
		for i := range len(text) {
			if !p.say(text[i : i+1]) {
				return
			}
			time.Sleep(time.Millisecond) // part of the habit
		}
	}
}

// hold waits until the other side disconnects.
func (p *peer) hold() { _, _ = io.Copy(io.Discard, p.Conn) }

// reset ends the connection with RST.
func (p *peer) reset() {
	if tcp, ok := p.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

// says, saysAndHolds and repeats return common speak functions.
func says(text ...string) func(*peer) { return func(p *peer) { p.say(text...) } }

func saysAndHolds(text ...string) func(*peer) {
	return func(p *peer) { p.say(text...); p.hold() }
}

func saysAndResets(text ...string) func(*peer) {
	return func(p *peer) { p.say(text...); p.reset() }
}

func repeats(head, text string) func(*peer) {
	return func(p *peer) { p.say(head); p.forever(text) }
}

func trickles(head, text string) func(*peer) {
	return func(p *peer) { p.say(head); p.trickle(text) }
}

// bomb returns a gzip stream that decompresses to size bytes of text.
func bomb(text string, size int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for n := 0; n < size; n += max(len(text), 1) {
		_, _ = io.WriteString(w, text)
	}
	_ = w.Close()
	return b.String()
}

const (
	ok       = "HTTP/1.1 200 OK\r\n"
	gzipHead = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\n\r\n"
	answer   = hello + finish + done
)

// listen serves a habit; stop ends its connections and waits for them.
func listen(t *testing.T, d habit, wrote *atomic.Int64) (addr string, stop func()) {
	t.Helper()
	return accept(t, func(c net.Conn) { d.serve(&peer{c, wrote}) })
}

// accept calls serve for each connection; stop ends the connections and waits for them.
func accept(t *testing.T, serve func(net.Conn)) (addr string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var peers sync.WaitGroup
	var open sync.Map
	peers.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(c, nil)
			peers.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	return l.Addr().String(), func() {
		l.Close()
		open.Range(func(c, _ any) bool { return c.(net.Conn).Close() == nil || true })
		peers.Wait()
	}
}

func (d habit) serve(p *peer) {
	if !d.deaf {
		r, err := http.ReadRequest(bufio.NewReader(p.Conn))
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
	}
	d.speak(p)
}
