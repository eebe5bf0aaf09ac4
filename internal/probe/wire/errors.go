package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"synthetic/internal/bound"
)

// UnfitError means that an answer is rejected: it is longer than Trace.MaxBytes, or has a
// compression that was not asked for.
type UnfitError struct{ Reason string }

func (e *UnfitError) Error() string { return e.Reason }

// maxReserve is the most file descriptors that are reserved for everything but connections to
// targets: scrapes, pages, Alertmanagers, files.
const maxReserve = 256

// MaxConnections returns how many connections to targets this process may have open. It is the
// number of file descriptors minus a reserve of at most half of them. 0 means no limit.
func MaxConnections() int64 {
	descriptors := bound.MaxOpenFiles()
	return descriptors - min(descriptors/2, maxReserve)
}

// ErrNoRoom means that the limit of connections is reached.
var ErrNoRoom = errors.New("the prober has no room for another connection")

// errNotNoticed means that the kernel had a connection, but this process did not run in time to use it.
var errNotNoticed = fmt.Errorf("the connection was open, but the prober did not notice it before the deadline: %w", os.ErrDeadlineExceeded)

// errSettings means that the TLS settings are invalid, or that their files cannot be read.
var errSettings = errors.New("the TLS settings cannot be used")

// IsLocal reports whether the cause of an unsent request lies on this machine and not with the peer:
// a resource is exhausted here, this process ran too late, or a file of the TLS settings cannot be read.
func IsLocal(err error) bool {
	var file *fs.PathError
	if errors.Is(err, ErrNoRoom) || errors.Is(err, errNotNoticed) || errors.Is(err, errSettings) || errors.As(err, &file) {
		return true
	}
	return slices.ContainsFunc(exhausted[:], func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// exhausted are the errors of a system without free file descriptors, local ports, buffers or
// memory.
var exhausted = [...]syscall.Errno{
	syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM,
}

// withErrno makes the system's error in err visible to errors.Is. Go's resolver keeps only its text.
func withErrno(err *net.DNSError) error {
	for _, e := range exhausted {
		if before, ok := strings.CutSuffix(err.Error(), e.Error()); ok {
			return fmt.Errorf("%s%w", before, e)
		}
	}
	return err
}
