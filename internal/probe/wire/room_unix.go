//go:build unix

package wire

import "syscall"

// maxReserve is how many file descriptors are kept for other things than
// connections to targets: scrapes, pages, Alertmanagers, files.
const maxReserve = 256

// MaxConnections returns how many connections this process may have open to its
// targets: its file descriptors less a reserve of at most half of them. 0 is
// without bound.
func MaxConnections() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	descriptors := int64(min(uint64(limit.Cur), 1<<40)) // where it is infinite
	return descriptors - min(descriptors/2, maxReserve)
}
