package httplimit

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"

	"synthetic/internal/bound"
)

// retryAfter, in seconds, is the Retry-After header of a refused request.
const retryAfter = 1

// Gate bounds the number of concurrent requests. One client address gets at most half of them,
// so a client that does not read leaves room for Prometheus. Use NewGate.
type Gate struct {
	*bound.Budget
	what string
	half int64

	mu sync.Mutex
	of map[string]int64 // concurrent requests by address
}

// NewGate returns a gate with a limit; what names the requests in messages.
func NewGate(what string, limit int64) *Gate {
	return &Gate{Budget: bound.NewBudget(limit), what: what, half: (limit + 1) / 2, of: map[string]int64{}}
}

// Handler serves requests within the limit with h, and refuses the others at once.
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

// addressOf returns the client's address without its port.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // a socket without ports
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
