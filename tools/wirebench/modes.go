//go:build linux

package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"time"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/wire"
)

// mode is a client under measurement: it reads one stream until ctx ends, and
// notes every event. Another client is another mode.
type mode func(ctx context.Context, url string, note noter) error

// noter takes an event: the stamp it carries and when it was seen to arrive.
type noter func(content []byte, at time.Time)

// newMode returns a mode by name, nil if there is none.
func newMode(name string) mode {
	switch name {
	case "nethttp":
		return netHTTP()
	case "stream":
		return wireStream()
	case "probe":
		return wholeProbe()
	}
	return nil
}

func request(ctx context.Context, url string) (*http.Request, error) {
	body := bytes.NewReader([]byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"go"}]}`))
	return http.NewRequestWithContext(ctx, http.MethodPost, url, body)
}

// netHTTP is the least that a client can do with the standard library: read,
// take the time, and look for the bytes it needs.
func netHTTP() mode {
	transport := &http.Transport{DialContext: (&net.Dialer{}).DialContext, DisableCompression: true}
	return func(ctx context.Context, url string, note noter) error {
		r, err := request(ctx, url)
		if err != nil {
			return err
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		buf := make([]byte, 4<<10)
		used := 0
		for {
			n, err := resp.Body.Read(buf[used:])
			at := time.Now()
			used = scan(buf, used+n, func(content []byte) { note(content, at) })
			if err != nil {
				return err
			}
		}
	}
}

// scan calls f for each event in buf[:n] and returns how much is left over, at
// the front of buf.
func scan(buf []byte, n int, f func(content []byte)) int {
	key := []byte(`"content":"`)
	rest := buf[:n]
	for {
		end := bytes.Index(rest, []byte("\n\n"))
		if end < 0 {
			return copy(buf, rest)
		}
		if i := bytes.Index(rest[:end], key); i >= 0 {
			content := rest[i+len(key) : end]
			if j := bytes.IndexByte(content, '"'); j >= 0 {
				f(content[:j])
			}
		}
		rest = rest[end+2:]
	}
}

// wireStream is the measuring path of the product.
func wireStream() mode {
	client := wire.New(wire.Options{})
	return func(ctx context.Context, url string, note noter) error {
		r, err := request(ctx, url)
		if err != nil {
			return err
		}
		resp, err := client.RoundTrip(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		events := stream.NewReader(resp.Body.(*wire.Body), stream.Options{})
		for {
			ev, err := events.Next()
			if err != nil {
				return err
			}
			if ev.Kind == stream.Token {
				note(ev.Content, ev.At)
			}
		}
	}
}
