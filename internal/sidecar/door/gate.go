package door

import (
	"fmt"
	"net/http"
	"strconv"

	"synthetic/internal/bound"
)

// retryAfter is how many seconds a client that was sent away may wait.
const retryAfter = 1

// Gate lets a bounded number of requests through at a time. Use NewGate.
type Gate struct {
	*bound.Budget
	what string
}

// NewGate returns a gate for so many requests at a time; what names them.
func NewGate(what string, limit int64) *Gate { return &Gate{bound.NewBudget(limit), what} }

// Handler serves by h what finds room, and sends the others away at once.
func (g *Gate) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.Take(1) {
			_, limit := g.Level()
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
			http.Error(w, fmt.Sprintf("%v %s are under way, and there may be no more: ask again later", limit, g.what), http.StatusServiceUnavailable)
			return
		}
		defer g.Give(1)
		h.ServeHTTP(w, r)
	})
}
