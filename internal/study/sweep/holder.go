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
	begins      bool      // the sweep does not have all its workers yet
	since       time.Time // when the worker came to the sweep
	until       time.Time // when the worker is free again
}

// admit gives a worker that is free to the sweep whose shard 0 runs on host, for heldFor. begins is set if that sweep
// does not have all its workers yet. If the worker belongs to another sweep, admit returns the host and the time of that
// sweep, and whether the new one may wait for it.
//
// Of two sweeps that begin, only the one with the lower id may wait. So none waits for another one that waits for it,
// and the sweep with the lowest id ends only if another one has got all its workers.
func (h *holder) admit(sweep, host string, begins bool) (other string, mayWait bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	free := !now.Before(h.until)
	if sweep != h.sweep && !free {
		return fmt.Sprintf("of %s since %s UTC", h.host, h.since.UTC().Format(time.DateTime)), begins && h.begins && sweep < h.sweep
	}
	if free {
		h.sweep, h.host, h.since = sweep, host, now
	}
	h.begins, h.until = begins, now.Add(heldFor)
	return "", false
}

// leave frees the worker.
func (h *holder) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = time.Time{}
}
