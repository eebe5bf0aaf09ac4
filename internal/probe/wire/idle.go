package wire

import (
	"sync"
	"time"
)

// pool keeps connections that no request uses.
type pool struct {
	timeout time.Duration
	max     int

	mu    sync.Mutex
	conns []*conn // oldest first
	timer *time.Timer
}

// get returns the connection to key that was used last and still lives, or nil.
func (p *pool) get(key string) *conn {
	for {
		c := p.take(key)
		if c == nil {
			return nil
		}
		if time.Since(c.since) < p.timeout && c.usable() {
			return c
		}
		c.Close()
	}
}

func (p *pool) take(key string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.conns) - 1; i >= 0; i-- {
		if c := p.conns[i]; c.key == key {
			p.conns = append(p.conns[:i], p.conns[i+1:]...)
			return c
		}
	}
	return nil
}

// settle is how long a connection is watched after its first response. Some
// servers promise to keep a connection and close it at once: a request sent
// before their farewell arrives would be lost, and the failure would be ours.
const settle = 3 * time.Millisecond

// put keeps c for the next request, or closes it. It waits for settle where
// the server has yet to show that it keeps connections.
func (p *pool) put(c *conn) {
	c.since = time.Now()
	if !c.kept {
		time.Sleep(settle)
		if c.kept = c.usable(); !c.kept {
			c.Close()
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.max > 0 && len(p.conns) >= p.max {
		c.Close()
		return
	}
	p.conns = append(p.conns, c)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.timeout, p.expire)
	}
}

// expire closes what was idle for too long, and comes back for the rest.
func (p *pool) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	for len(p.conns) > 0 {
		left := p.timeout - time.Since(p.conns[0].since)
		if left > 0 {
			p.timer = time.AfterFunc(left, p.expire)
			return
		}
		p.conns[0].Close()
		p.conns = p.conns[1:]
	}
}

func (p *pool) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}
