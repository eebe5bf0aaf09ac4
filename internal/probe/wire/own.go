package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"
)

// ErrNoRoom is why a request is not sent: the prober has no room for another
// connection.
var ErrNoRoom = errors.New("the prober has no room for another connection")

// errSettings is why a request is not sent: TLS cannot be spoken as configured.
var errSettings = errors.New("the TLS settings cannot be used")

// Own reports whether err, which kept a request from being sent, is a fault of
// this machine and none of the peer's: something is used up here, or a file of
// the TLS settings cannot be read.
func Own(err error) bool {
	var file *fs.PathError
	if errors.Is(err, ErrNoRoom) || errors.Is(err, errSettings) || errors.As(err, &file) {
		return true
	}
	return slices.ContainsFunc(usedUp(), func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// usedUp are what the system says when it has no more of something: file
// descriptors, local ports, buffers, memory.
func usedUp() []syscall.Errno {
	return []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM,
	}
}

// lookupFailure is err with what the system said, of which Go's resolver keeps
// the words alone.
func lookupFailure(err *net.DNSError) error {
	for _, e := range usedUp() {
		if before, ok := strings.CutSuffix(err.Error(), e.Error()); ok {
			return fmt.Errorf("%s%w", before, e)
		}
	}
	return err
}
