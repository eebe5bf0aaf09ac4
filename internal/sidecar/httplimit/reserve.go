package httplimit

import (
	"os"
	"sync"
)

// reserved is how many descriptors are kept for the port.
const reserved = 8

// reserve holds descriptors that the port falls back on when the process has no
// more: a connection that is accepted takes one's place.
type reserve struct {
	mu    sync.Mutex
	files []*os.File
}

// fill takes as many descriptors as are missing and can be had.
func (r *reserve) fill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.files) < reserved {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		r.files = append(r.files, f)
	}
}

// give lets go of one descriptor; false when none is left.
func (r *reserve) give() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.files) == 0 {
		return false
	}
	last := len(r.files) - 1
	r.files[last].Close()
	r.files = r.files[:last]
	return true
}
