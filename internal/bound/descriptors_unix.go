//go:build unix

package bound

import "syscall"

// Descriptors is how many files this process may have open, 0 where that is not
// known.
func Descriptors() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int64(min(uint64(limit.Cur), 1<<40)) // where it is infinite
}
