package sweep

import (
	"sync"
	"time"
)

// holder is the sweep that a worker belongs to. The zero value is no sweep.
type holder struct {
	mu       sync.Mutex
	sweep    string
	until    time.Time // when the worker is free again, if it carries no level
	carrying bool
}

// admit reports whether the worker may serve a sweep, to which it then belongs.
func (h *holder) admit(sweep string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sweep != h.sweep && (h.carrying || time.Now().Before(h.until)) {
		return false
	}
	h.sweep, h.until = sweep, time.Now().Add(heldFor)
	return true
}

// begin marks the begin of a level, the returned function its end.
func (h *holder) begin() (end func()) {
	h.set(true)
	return func() { h.set(false) }
}

func (h *holder) set(carrying bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.carrying = carrying; h.sweep != "" {
		h.until = time.Now().Add(heldFor)
	}
}

// leave frees the worker, if it belongs to the sweep.
func (h *holder) leave(sweep string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sweep == h.sweep {
		h.sweep, h.until = "", time.Time{}
	}
}
