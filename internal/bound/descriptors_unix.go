//go:build unix

package bound

import "syscall"

// MaxOpenFiles returns how many files this process may have open, or 0 if that is unknown.
func MaxOpenFiles() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int64(min(uint64(limit.Cur), 1<<40)) // an infinite limit is a huge number
}
