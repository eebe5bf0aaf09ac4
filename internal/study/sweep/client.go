package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Client is the side of a shard other than 0.
type Client struct {
	// Logger is told why shard 0 does not answer; it discards by default.
	Logger     *slog.Logger
	hello      Hello
	url, token string
	http       *http.Client

	mu     sync.Mutex
	status Status
	step   Step
	heard  time.Time // of shard 0, last
	err    error     // of the last post; a RefusedError stays
	warned time.Time // of that error, last
	clock  bounds
	// changed is closed and replaced with each answer, told asks for a post now.
	changed chan struct{}
	told    chan struct{}
}

// NewClient returns the client of the barrier at a URL.
func NewClient(h Hello, url, token string, transport http.RoundTripper) *Client {
	return &Client{
		Logger: slog.New(slog.DiscardHandler), hello: h, url: strings.TrimSuffix(url, "/"), token: token,
		http:   &http.Client{Transport: transport, Timeout: Silence / 2},
		status: Status{Hello: h, Done: true}, heard: time.Now(),
		changed: make(chan struct{}), told: make(chan struct{}, 1),
	}
}

// Run gives signs of life until ctx ends, and then takes leave; or until it is refused.
func (c *Client) Run(ctx context.Context, leaving func() string) {
	defer c.http.CloseIdleConnections()
	beats := time.NewTicker(beat)
	defer beats.Stop()
	for ctx.Err() == nil {
		if refused := c.post(ctx, c.next()); refused {
			return
		}
		select {
		case <-ctx.Done():
		case <-c.told:
		case <-beats.C:
		}
	}
	s := c.next()
	s.Leaving = leaving()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = c.call(last, http.MethodPost, pathStatus, s, &Step{}) // by when shard 0 may have ended
}

// next is the status to post.
func (c *Client) next() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// post gives one sign of life, and says whether shard 0 wants none.
func (c *Client) post(ctx context.Context, s Status) (refused bool) {
	var step Step
	err := c.call(ctx, http.MethodPost, pathStatus, s, &step)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, refused = errors.AsType[RefusedError](err)
	if c.err = err; err != nil && !refused && ctx.Err() == nil && time.Since(c.warned) >= shardWhyEvery {
		c.warned = time.Now()
		c.Logger.Warn("Shard 0 does not answer; it is asked again", "url", c.url, "err", err)
	}
	if err == nil {
		c.step, c.heard, c.warned = step, time.Now(), time.Time{}
		if c.status.Report == s.Report {
			c.status.Report = nil // it is there
		}
		if c.status.Leaving == s.Leaving {
			c.status.Leaving = "" // it is known
		}
	}
	close(c.changed)
	c.changed = make(chan struct{})
	return refused
}

// call sends v, nil for nothing, and reads the answer.
func (c *Client) call(ctx context.Context, method, path string, v, out any) error {
	var body io.Reader
	if v != nil {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return RefusedError(err.Error())
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostBody))
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusConflict, resp.StatusCode == http.StatusUnauthorized:
		return RefusedError(fmt.Sprintf("%.500s", bytes.TrimSpace(data))) // who else listens there may say more
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s: %.200s", c.url+path, resp.Status, bytes.TrimSpace(data))
	}
	return json.Unmarshal(data, out)
}

// Tell says how far this shard is with the level, and what it counted, nil for
// nothing new.
func (c *Client) Tell(step int64, done bool, r *Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Step, c.status.Done = step, done
	if r != nil {
		c.status.Report = r
	}
	select {
	case c.told <- struct{}{}:
	default: // it will be soon
	}
}

// Leave says why this shard carries its part of the level no more.
func (c *Client) Leave(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Leaving = why
}

// Now is the step that all are to be at, and an error when that is not known any
// more.
func (c *Client) Now() (Step, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now(Silence)
}

// now takes shard 0 for gone after a time; the caller holds mu.
func (c *Client) now(patience time.Duration) (Step, error) {
	refused, is := errors.AsType[RefusedError](c.err)
	switch {
	case is:
		return c.step, refused
	case c.err != nil && time.Since(c.heard) >= patience:
		return c.step, fmt.Errorf("%w at %s for %s: %w", ErrAway, c.url, patience, c.err)
	}
	return c.step, nil
}

// Next waits for another step than the one with that number, while shard 0 is there
// or may come back within patience.
func (c *Client) Next(ctx context.Context, after int64, patience time.Duration) (Step, error) {
	for {
		c.mu.Lock()
		step, err := c.now(patience)
		changed := c.changed
		c.mu.Unlock()
		if err != nil || step.Number != after {
			return step, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return step, ctx.Err()
		}
	}
}
