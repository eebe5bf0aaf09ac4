//go:build !unix

package bound

// MaxOpenFiles returns 0, because the system has no such limit per process.
func MaxOpenFiles() int64 { return 0 }
