package sweep

import (
	"fmt"
	"sync"
	"time"
)

// holder is the sweep that a worker belongs to. The zero value is no sweep.
type holder struct {
	mu          sync.Mutex
	sweep, host string    // host has its shard 0
	since       time.Time // when the worker came to the sweep
	until       time.Time // when the worker is free again
}

// admit gives a worker that is free to the sweep whose shard 0 runs on host, for heldFor. If the worker
// belongs to another sweep, it returns the host and the time of that sweep.
func (h *holder) admit(sweep, host string) (other string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	free := !now.Before(h.until)
	if sweep != h.sweep && !free {
		return fmt.Sprintf("of %s since %s UTC", h.host, h.since.UTC().Format(time.DateTime))
	}
	if free {
		h.sweep, h.host, h.since = sweep, host, now
	}
	h.until = now.Add(heldFor)
	return ""
}

// leave frees the worker.
func (h *holder) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = time.Time{}
}
