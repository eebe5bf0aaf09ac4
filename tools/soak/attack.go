//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// attack is a hostile environment of the program. Every fourth target stays healthy.
type attack struct {
	name string
	// answer writes to a connection in place of a response, until the connection is closed.
	// nil means a healthy deployment.
	answer func(net.Conn)
	// page is the size of the targets' metrics page in bytes; 0 means that it is not read.
	page int
	// scrapers is the number of clients that keep requesting /metrics. slow ones hardly
	// read.
	scrapers int
	slow     bool
}

const (
	head     = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
	chunked  = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	encoding = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nContent-Encoding: "
	finish   = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}` + "\n\ndata: [DONE]\n\n"
)

func token(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}` + "\n\n"
}

func attacks() []attack {
	return []attack{
		{name: "none"},
		{name: "1,000 scrapers", scrapers: 1000},
		{name: "300 scrapers that hardly read", scrapers: 300, slow: true},
		{name: "answers of 1 MB", answer: babble},
		{name: "tokens without end", answer: flood(head, token("a"))},
		{name: "one line without end", answer: flood(head+"data: ", "x")},
		{name: "comments without end", answer: flood(head, ": ping\n\n")},
		{name: "empty lines without end", answer: flood(head, "\n")},
		{name: "chunk extensions without end", answer: flood(chunked, "1;x="+strings.Repeat("y", 2000)+"\r\n\n\r\n")},
		{name: "segments of one byte", answer: trickle},
		{name: "headers without end", answer: flood("HTTP/1.1 200 OK\r\n", "X-A: b\r\n")},
		{name: "interim responses without end", answer: flood("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")},
		{name: "a body of gzip that unpacks to 200 MB", answer: bomb},
		{name: "zstd that was not asked for", answer: flood(encoding+"zstd\r\n\r\n", "\x28\xb5\x2f\xfd")},
		{name: "an error page without end", answer: flood("HTTP/1.1 503 No\r\nConnection: close\r\n\r\n", "<h1>no</h1>")},
		{name: "pages of metrics of 32 MiB", page: 32 << 20},
	}
}

// patience is the limit for an answer without a reader.
const patience = 2 * time.Minute

// flood sends begin once and then repeats again.
func flood(begin, again string) func(net.Conn) {
	return func(c net.Conn) {
		block := []byte(strings.Repeat(again, 1+(64<<10)/len(again)))
		_, err := io.WriteString(c, begin)
		for end := time.Now().Add(patience); err == nil && time.Now().Before(end); {
			_, err = c.Write(block)
		}
	}
}

// babble ignores max_tokens, and then ends its answer correctly.
func babble(c net.Conn) {
	_, err := io.WriteString(c, head)
	for i := 0; i < 1000 && err == nil; i++ {
		_, err = io.WriteString(c, token(strings.Repeat("b", 1000)))
	}
	_, _ = io.WriteString(c, finish) // the client may have gone
}

// trickle sends comments byte by byte, each in a TCP segment of its own.
func trickle(c net.Conn) {
	_, err := io.WriteString(c, head)
	for i := 0; i < 1<<20 && err == nil; i++ {
		_, err = c.Write([]byte{":\n"[i%2]})
	}
}

func bomb(c net.Conn) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	empty := bytes.Repeat([]byte("\n"), 1<<20)
	for range 200 {
		_, _ = z.Write(empty) // a buffer cannot fail
	}
	_ = z.Close()
	_, _ = io.WriteString(c, encoding+"gzip\r\n\r\n"+packed.String()) // the client may have gone
}

// scrape requests /metrics until ctx ends.
func (a attack) scrape(ctx context.Context, address string) {
	block := make([]byte, 64<<10)
	if a.slow {
		block = block[:1<<10]
	}
	for ctx.Err() == nil {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			_, err = fmt.Fprintf(c, "GET /metrics HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address)
			for err == nil && ctx.Err() == nil {
				if _, err = c.Read(block); a.slow {
					wait(ctx, time.Second)
				}
			}
			c.Close()
		}
		wait(ctx, 50*time.Millisecond)
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
