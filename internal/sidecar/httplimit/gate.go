package httplimit

import (
	"fmt"
	"net"
	"net/http"
	"sync"

	"synthetic/internal/bound"
)

// Gate limits the concurrent requests. One client address gets at most half of them, so that a client
// that does not read leaves room for Prometheus.
type Gate struct {
	*bound.Budget
	requests string // for messages, such as "scrapes"
	half     int64

	mu        sync.Mutex
	byAddress map[string]int64 // concurrent requests
}

// NewGate returns a gate; requests is the name of the limited requests in messages.
func NewGate(requests string, limit int64) *Gate {
	return &Gate{Budget: bound.NewBudget(limit), requests: requests, half: (limit + 1) / 2, byAddress: map[string]int64{}}
}

// Handler serves requests within the limit with h, and refuses the others at once.
func (g *Gate) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address := Caller(r)
		if !g.enter(address) {
			_, limit := g.Level()
			w.Header().Set("Retry-After", "1") // seconds
			text := fmt.Sprintf("too many %s at once: at most %v are served, and half of them for one address; "+
				"try again later", g.requests, limit)
			http.Error(w, text, http.StatusServiceUnavailable)
			return
		}
		defer g.leave(address)
		h.ServeHTTP(w, r)
	})
}

// Caller returns the address of the client without its port.
func Caller(r *http.Request) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // a socket without ports
	}
	return address
}

func (g *Gate) enter(address string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byAddress[address] >= g.half || !g.Take(1) {
		return false
	}
	g.byAddress[address]++
	return true
}

func (g *Gate) leave(address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Return(1)
	if g.byAddress[address]--; g.byAddress[address] == 0 {
		delete(g.byAddress, address)
	}
}
