//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// upstream serves the addresses of the targets, each on a port of its own.
type upstream struct {
	attack
	hostile  bool
	received atomic.Int64
}

// serve listens on loopback until the process ends.
func serve(h http.Handler) (address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = (&http.Server{Handler: h, ReadHeaderTimeout: patience}).Serve(l) }()
	return l.Addr().String(), nil
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/metrics"):
		u.metrics(w)
		return
	case r.Method != http.MethodPost:
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m"}]}`)
		return
	}
	u.received.Add(1)
	_, _ = io.Copy(io.Discard, r.Body) // the content does not matter
	if !u.hostile || u.answer == nil {
		converse(w)
		return
	}
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err) // HTTP/1.1 connections can always be hijacked
	}
	defer c.Close()
	u.answer(c)
}

// converse sends an answer of 20 tokens.
func converse(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	for i, delay := 0, 100*time.Millisecond; i < 20; i, delay = i+1, 10*time.Millisecond {
		time.Sleep(delay)
		_, _ = io.WriteString(w, token("word "))
		_ = flush()
	}
	_, _ = io.WriteString(w, finish)
}

// metrics is a page of unknown metric families.
func (u *upstream) metrics(w http.ResponseWriter) {
	line := []byte(strings.Repeat("vllm:unknown{worker=\"1\"} 1\n", 1000))
	for n, err := 0, error(nil); n < u.page && err == nil; n += len(line) {
		_, err = w.Write(line)
	}
}
