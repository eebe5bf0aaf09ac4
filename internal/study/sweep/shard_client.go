package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"synthetic/internal/atomicfile"
)

// Client is the side of a shard other than 0.
type Client struct {
	// Logger logs why shard 0 does not answer; nil logs nothing.
	Logger     *slog.Logger
	hello      Hello
	url, token string
	http       *http.Client

	mu     sync.Mutex
	status status
	step   step
	heard  time.Time // last answer of shard 0
	err    error     // error of the last post; a RefusedError stays
	warned time.Time // when that error was last logged
	clock  bounds
	// changed is closed and replaced with each answer. A value in told triggers a post.
	changed chan struct{}
	told    chan struct{}
}

// NewClient returns the client of the barrier at a URL.
func NewClient(h Hello, url, token string, transport http.RoundTripper) *Client {
	return &Client{
		Logger: slog.New(slog.DiscardHandler), hello: h, url: strings.TrimSuffix(url, "/"), token: token,
		http:   &http.Client{Transport: transport, Timeout: silenceLimit / 2},
		status: status{Hello: h, Done: true}, heard: time.Now(),
		changed: make(chan struct{}), told: make(chan struct{}, 1),
	}
}

// run posts signs of life until ctx ends, and then says goodbye, or until shard 0 refuses it.
func (c *Client) run(ctx context.Context, leaving func() string) {
	defer c.http.CloseIdleConnections()
	beats := time.NewTicker(statusInterval)
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
	_ = c.call(last, http.MethodPost, pathStatus, s, &step{}) // shard 0 may have ended by then
}

func (c *Client) next() status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// post sends one sign of life, and reports whether shard 0 refused it.
func (c *Client) post(ctx context.Context, s status) (refused bool) {
	var step step
	err := c.call(ctx, http.MethodPost, pathStatus, s, &step)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, refused = errors.AsType[refusedError](err)
	if c.err = err; err != nil && !refused && ctx.Err() == nil && time.Since(c.warned) >= logWaitingEvery {
		c.warned = time.Now()
		c.Logger.Warn("Shard 0 does not answer; trying again", "url", c.url, "err", err)
	}
	if err == nil {
		c.step, c.heard, c.warned = step, time.Now(), time.Time{}
		if c.status.Report == s.Report {
			c.status.Report = nil // delivered
		}
		if c.status.Leaving == s.Leaving {
			c.status.Leaving = "" // delivered
		}
	}
	close(c.changed)
	c.changed = make(chan struct{})
	return refused
}

// call sends v, nothing if nil, and reads the answer.
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
		return refusedError(err.Error())
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusConflict, resp.StatusCode == http.StatusUnauthorized:
		return refusedError(fmt.Sprintf("%.500s", bytes.TrimSpace(data))) // another server may answer with a long text
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s: %.200s", c.url+path, resp.Status, bytes.TrimSpace(data))
	}
	return atomicfile.InJSONTerms("the answer of "+c.url+path, json.Unmarshal(data, out))
}

// tell reports this shard's progress in the level, and its counts; nil means no new counts.
func (c *Client) tell(step int64, done bool, r *levelReport) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Step, c.status.Done = step, done
	if r != nil {
		c.status.Report = r
	}
	select {
	case c.told <- struct{}{}:
	default: // a post is pending
	}
}

// leave reports why this shard no longer takes part in the level.
func (c *Client) leave(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Leaving = why
}

// currentStep returns the current step of all shards, or an error if it is unknown.
func (c *Client) currentStep() (step, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now(silenceLimit)
}

// now treats shard 0 as gone after patience. The caller holds mu.
func (c *Client) now(patience time.Duration) (step, error) {
	refused, is := errors.AsType[refusedError](c.err)
	switch {
	case is:
		return c.step, refused
	case c.err != nil && time.Since(c.heard) >= patience:
		return c.step, fmt.Errorf("%w at %s for %s: %w", ErrLeadUnreachable, c.url, patience, c.err)
	}
	return c.step, nil
}

// nextStep waits for a step other than the one with the number after, as long as shard 0 answers or
// may return within patience.
func (c *Client) nextStep(ctx context.Context, after int64, patience time.Duration) (step, error) {
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

// rounds is the number of requests in one clock measurement. The fastest one counts.
const rounds = 8

// bounds limits the difference of shard 0's clock to this one, over all measurements so far.
// The zero value means unknown.
type bounds struct {
	low, high time.Duration
	known     bool
	// last is the last measurement of this process, if any: an earlier process may have had
	// another clock.
	last     time.Duration
	measured bool
}

// measure asks shard 0 for its time. That time lies between the request and the answer, so half
// of the fastest round trip bounds the error (as in NTP, RFC 5905 section 8). Clocks drift, so
// it is measured before each level.
func (c *Client) measure(ctx context.Context) error {
	best, offset := time.Duration(math.MaxInt64), time.Duration(0)
	for range rounds {
		var there time.Time
		sent := time.Now()
		if err := c.call(ctx, http.MethodGet, pathClock, nil, &there); err != nil {
			return err
		}
		if took := time.Since(sent); took < best {
			best, offset = took, there.Sub(sent.Add(took/2))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.add(offset, best/2)
	c.clock.last, c.clock.measured = offset, true
	return nil
}

// recall adds what an earlier process of this shard knew about the clocks, so that Clock also
// holds for its measurements.
func (c *Client) recall(offset, within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.add(offset, within)
}

func (b *bounds) add(offset, within time.Duration) {
	low, high := offset-within, offset+within
	if b.known {
		low, high = min(low, b.low), max(high, b.high)
	}
	b.low, b.high, b.known = low, high, true
}

// clockOffset returns the difference of shard 0's clock to this one, and its uncertainty.
func (c *Client) clockOffset() (offset, within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return (c.clock.low + c.clock.high) / 2, (c.clock.high - c.clock.low) / 2
}

// here converts a time of shard 0 to this clock. A time that is far from now means that a clock
// was set since the measurement: then shards cannot start or end together, and Here returns an
// error.
func (c *Client) here(there time.Time) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.clock.measured {
		return now, errors.New("the clock of shard 0 could not be read")
	}
	away := there.Sub(now.Add(c.clock.last))
	if away.Abs() > silenceLimit {
		return now, fmt.Errorf("the time that shard 0 announced is %s away: this shard learned of it late, or a clock was set in the meantime", away.Round(time.Second))
	}
	return now.Add(away), nil // with this process's monotonic clock
}
