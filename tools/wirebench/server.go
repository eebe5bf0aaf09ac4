//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An event is a chunk as vLLM sends one per token; its content is the time of
// sending in 19 digits. The HTTP chunk around it is of constant size.
const (
	eventHead = `data: {"id":"chatcmpl-7c1f2a9be0d34f5c8a6b1d2e3f405162","object":"chat.completion.chunk","created":1763600000,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"content":"`
	eventTail = `"},"logprobs":null,"finish_reason":null,"token_ids":null}]}` + "\n\n"
	stampSize = 19
)

// serve accepts the scenario's streams and sends events until stdin ends. It
// prints its address first.
func serve(s scenario, out io.Writer, in io.Reader) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintln(out, l.Addr())
	stopped := make(chan struct{})
	go func() {
		io.Copy(io.Discard, in)
		l.Close()
		close(stopped)
	}()
	peers := make([]peer, 0, s.streams)
	for len(peers) < s.streams {
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("after %d of %d streams: %w", len(peers), s.streams, err)
		}
		defer c.Close()
		p, err := begin(c.(*net.TCPConn))
		if err != nil {
			return err
		}
		peers = append(peers, p)
	}
	return send(s, peers, stopped)
}

// peer is one stream of the client.
type peer struct {
	net.Conn
	raw syscall.RawConn
}

// begin reads one request and answers its headers.
func begin(c *net.TCPConn) (peer, error) {
	r, err := http.ReadRequest(bufio.NewReaderSize(c, 512))
	if err != nil {
		return peer{}, err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return peer{}, err
	}
	if _, err = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"); err != nil {
		return peer{}, err
	}
	raw, err := c.SyscallConn()
	return peer{c, raw}, err
}

// send writes every event when it is due, stamped right before its write.
func send(s scenario, peers []peer, stopped <-chan struct{}) error {
	w := newWriter()
	start := time.Now()
	for k := 0; ; k++ {
		for i, p := range peers {
			select {
			case <-stopped:
				return nil
			default:
			}
			time.Sleep(time.Until(start.Add(s.due(k, i))))
			if err := w.write(p); err != nil {
				return err
			}
		}
	}
}

// eventWriter stamps and writes one event at a time.
type eventWriter struct {
	clock sharedClock
	event []byte
	stamp []byte // its place in event
	n     int
	err   error
	send  func(fd uintptr) bool
}

func newWriter() *eventWriter {
	w := &eventWriter{clock: newSharedClock()}
	w.event = fmt.Appendf(nil, "%x\r\n%s%0*d%s\r\n", len(eventHead)+stampSize+len(eventTail), eventHead, stampSize, 0, eventTail)
	end := len(w.event) - 2 - len(eventTail)
	w.stamp = w.event[end-stampSize : end]
	w.send = w.sendStamped
	return w
}

// sendStamped calls write with nothing between the stamp and the call.
func (w *eventWriter) sendStamped(fd uintptr) bool {
	putStamp(w.stamp, w.clock.of(time.Now()))
	w.n, w.err = unix.Write(int(fd), w.event)
	return w.err != unix.EAGAIN
}

// write sends one event to p, waiting while its buffer is full. A client that
// has gone is no error.
func (w *eventWriter) write(p peer) error {
	if err := p.raw.Write(w.send); err != nil || w.err != nil {
		return ignoreGone(errors.Join(err, w.err))
	}
	_, err := p.Write(w.event[w.n:])
	return ignoreGone(err)
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		return nil
	}
	return err
}

// putStamp writes n in decimal, with leading zeros.
func putStamp(b []byte, n int64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
}

// stampOf reads the stamp in an event's content.
func stampOf(content []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(content), 10, 64)
	return n, err == nil
}
