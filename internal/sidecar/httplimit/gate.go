package httplimit

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"

	"synthetic/internal/bound"
)

// retryAfter is how many seconds a client that was sent away may wait.
const retryAfter = 1

// Gate lets a bounded number of requests through at a time, of which no address
// of a client has more than half: one that does not read leaves room for
// Prometheus. Use NewGate.
type Gate struct {
	*bound.Budget
	what string
	half int64

	mu sync.Mutex
	of map[string]int64 // requests under way, by address
}

// NewGate returns a gate for so many requests at a time; what names them.
func NewGate(what string, limit int64) *Gate {
	return &Gate{Budget: bound.NewBudget(limit), what: what, half: (limit + 1) / 2, of: map[string]int64{}}
}

// Handler serves by h what finds room, and sends the others away at once.
func (g *Gate) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := addressOf(r)
		if !g.enter(from) {
			_, limit := g.Level()
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
			http.Error(w, fmt.Sprintf("there may be %v %s under way, half of them for one address, and there are: ask again later", limit, g.what), http.StatusServiceUnavailable)
			return
		}
		defer g.leave(from)
		h.ServeHTTP(w, r)
	})
}

// addressOf is the address that a request came from, without its port.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // of a socket that has no ports
	}
	return host
}

func (g *Gate) enter(from string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of[from] >= g.half || !g.Take(1) {
		return false
	}
	g.of[from]++
	return true
}

func (g *Gate) leave(from string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Return(1)
	if g.of[from]--; g.of[from] == 0 {
		delete(g.of, from)
	}
}
