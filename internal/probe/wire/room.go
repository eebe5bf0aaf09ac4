package wire

import "synthetic/internal/bound"

// maxReserve is how many file descriptors are kept for other things than
// connections to targets: scrapes, pages, Alertmanagers, files.
const maxReserve = 256

// MaxConnections returns how many connections this process may have open to its
// targets: its file descriptors less a reserve of at most half of them. 0 is
// without bound.
func MaxConnections() int64 {
	descriptors := bound.MaxOpenFiles()
	return descriptors - min(descriptors/2, maxReserve)
}
