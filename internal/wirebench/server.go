//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
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
	conns := make([]net.Conn, 0, s.streams)
	for len(conns) < s.streams {
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("after %d of %d streams: %w", len(conns), s.streams, err)
		}
		defer c.Close()
		if err := begin(c); err != nil {
			return err
		}
		conns = append(conns, c)
	}
	send(s, conns, stopped)
	return nil
}

// begin reads one request and answers its headers.
func begin(c net.Conn) error {
	r, err := http.ReadRequest(bufio.NewReaderSize(c, 512))
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return err
	}
	_, err = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	return err
}

// send writes every event when it is due, stamped right before its write.
func send(s scenario, conns []net.Conn, stopped <-chan struct{}) {
	clock := newSharedClock()
	event := []byte(fmt.Sprintf("%x\r\n%s%0*d%s\r\n", len(eventHead)+stampSize+len(eventTail), eventHead, stampSize, 0, eventTail))
	stampAt := len(event) - 2 - len(eventTail) - stampSize
	start := time.Now()
	for k := 0; ; k++ {
		for i, c := range conns {
			select {
			case <-stopped:
				return
			default:
			}
			if wait := s.due(k, i) - time.Since(start); wait > 0 {
				time.Sleep(wait)
			}
			putStamp(event[stampAt:stampAt+stampSize], clock.of(time.Now()))
			c.Write(event) // an error is the client's to notice
		}
	}
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
