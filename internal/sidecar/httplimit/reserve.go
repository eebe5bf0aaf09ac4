package httplimit

import (
	"os"
	"sync"
)

// reserved is the number of descriptors kept for the port.
const reserved = 8

// reserve holds open descriptors. When the process runs out of descriptors, the port closes one
// of them to accept a connection.
type reserve struct {
	mu    sync.Mutex
	files []*os.File
}

// fill opens the missing descriptors, as far as the system allows.
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

// give closes one descriptor, and returns false if none is left.
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
