//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"synthetic/internal/probe/dialect"
)

// readTurn reads a stream to its end and passes each token's content and arrival time to token.
type readTurn func(body io.Reader, token func(content []byte, at time.Time)) error

// lateness is what a reader prints: how long after the server's stamp its tokens arrived.
type lateness struct {
	P50, P99 float64 // µs; 0 without a token
}

// follow keeps the streams of a scenario in flight for a duration, through rt, and prints the lateness.
func follow(s scenario, url string, d time.Duration, rt http.RoundTripper, read readTurn) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	began := time.Now()
	late := make([][]float64, s.streams)
	errs := make([]error, s.streams)
	var all sync.WaitGroup
	for i := range s.streams {
		all.Go(func() {
			// The starts are spread over the time that the starts of a sweep take.
			time.Sleep(time.Duration(i) * time.Second / startRate)
			for ctx.Err() == nil && errs[i] == nil {
				errs[i] = turn(ctx, url, rt, read, func(content []byte, at time.Time) {
					sent, err := strconv.ParseInt(string(content), 10, 64)
					if err == nil && at.Sub(began) > warmUp {
						late[i] = append(late[i], float64(at.UnixNano()-sent)/1e3)
					}
				})
			}
			if ctx.Err() != nil {
				errs[i] = nil
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var out lateness
	if times := slices.Sorted(slices.Values(slices.Concat(late...))); len(times) > 0 {
		out = lateness{times[len(times)/2], times[len(times)*99/100]}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func turn(ctx context.Context, url string, rt http.RoundTripper, read readTurn, token func([]byte, time.Time)) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		return err
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", resp.Status)
	}
	return read(resp.Body, token)
}

// plain is the least that the standard library can do: it reads, takes the time and searches for the content.
func plain(body io.Reader, token func([]byte, time.Time)) error {
	buf := make([]byte, 4<<10)
	used := 0
	for {
		n, err := body.Read(buf[used:])
		at := time.Now()
		used = events(buf, used+n, func(content []byte) { token(content, at) })
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
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
func path(body io.Reader, token func([]byte, time.Time)) error {
	reader := dialect.NewReader(body.(dialect.Source), dialect.Of(dialect.Default).Decoder(), 1<<20)
	defer reader.Close()
	for {
		event, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if event.Kind == dialect.Token {
			token(event.Content, event.At)
		}
	}
}
