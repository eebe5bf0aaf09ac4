//go:build !unix

package wire

// MaxConnections returns 0, which is without bound: the system has no limit for
// each process.
func MaxConnections() int64 { return 0 }
