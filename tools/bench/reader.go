//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/wire"
)

// readTurn reads a stream to its end, calls token with the arrival of each token, and returns that of the end.
type readTurn func(body io.Reader, token func(at time.Time)) (end time.Time, err error)

// reader is a client of this program: it keeps the streams of a scenario in flight.
type reader struct {
	rt   http.RoundTripper
	read readTurn
	url  string

	turns atomic.Uint64
	mu    sync.Mutex
	log   *json.Encoder
}

// newReader returns a reader of a kind, plain or path.
func newReader(kind string, s scenario, url string, log io.Writer) *reader {
	r := &reader{read: plain, url: url, log: json.NewEncoder(log)}
	if kind == "path" {
		r.read, r.rt = path, wire.New(wire.Options{HTTP: promconfig.HTTPClientConfig{
			TLSConfig: promconfig.TLSConfig{InsecureSkipVerify: true}, EnableHTTP2: s.protocol == overHTTP2,
		}})
		return r
	}
	r.rt = &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: s.streams, ForceAttemptHTTP2: s.protocol == overHTTP2,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
	return r
}

// runReader runs a reader for a duration. It writes a turn log, as the programs do.
func runReader(kind string, s scenario, url, log string, d time.Duration) error {
	file, err := os.Create(log)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 64<<10)
	return errors.Join(newReader(kind, s, url, out).follow(s, d), out.Flush(), file.Close())
}

func (r *reader) follow(s scenario, d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	errs := make([]error, s.streams)
	var all sync.WaitGroup
	for i := range s.streams {
		all.Go(func() {
			// The starts are spread over the time that the starts of a sweep take.
			time.Sleep(time.Duration(i) * time.Second / startRate)
			for ctx.Err() == nil && errs[i] == nil {
				errs[i] = r.turn(ctx)
			}
			if ctx.Err() != nil {
				errs[i] = nil
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (r *reader) turn(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		return err
	}
	t := turn{Span: fmt.Sprintf("%016x", r.turns.Add(1)), At: time.Now()}
	req.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-"+t.Span+"-00")
	resp, err := r.rt.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", resp.Status)
	}
	end, err := r.read(resp.Body, func(at time.Time) {
		if t.TTFT == 0 {
			t.TTFT = at.Sub(t.At).Seconds()
		}
	})
	if err != nil {
		return err
	}
	t.Duration = end.Sub(t.At).Seconds()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Encode(t)
}

// plain is the least that the standard library can do: it reads, takes the time and searches for the content.
func plain(body io.Reader, token func(time.Time)) (at time.Time, err error) {
	buf := make([]byte, 4<<10)
	used := 0
	for {
		n, err := body.Read(buf[used:])
		at = time.Now()
		used = events(buf, used+n, func([]byte) { token(at) })
		if errors.Is(err, io.EOF) {
			return at, nil
		}
		if err != nil {
			return at, err
		}
	}
}

// events calls f with the content of each event in buf[:n], and moves the incomplete rest to the front.
func events(buf []byte, n int, f func(content []byte)) int {
	rest := buf[:n]
	for {
		event, more, complete := bytes.Cut(rest, []byte("\n\n"))
		if !complete {
			return copy(buf, rest)
		}
		if _, content, ok := bytes.Cut(event, []byte(`"content":"`)); ok {
			content, _, _ = bytes.Cut(content, []byte(`"`))
			f(content)
		}
		rest = more
	}
}

// path reads as a probe does: kernel timestamps, a complete SSE parser, a check of every byte of JSON.
func path(body io.Reader, token func(time.Time)) (end time.Time, err error) {
	source := body.(dialect.Source)
	events := dialect.NewReader(source, dialect.Of(dialect.Default).Decoder(), 1<<20)
	defer events.Close()
	for {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			return source.Arrival().At, nil
		}
		if err != nil {
			return end, err
		}
		if event.Kind == dialect.Token {
			token(event.At)
		}
	}
}
