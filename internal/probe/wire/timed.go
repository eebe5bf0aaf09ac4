package wire

import (
	"net"
	"time"
)

// Arrival says when the bytes of one read reached this host.
type Arrival struct {
	// At is the arrival with a monotonic reading: the kernel's receive timestamp if known, otherwise
	// the time at which the read returned. Exact describes HTTP/2.
	At time.Time
	// Seen is when this process read the bytes; Seen − At is the read lag.
	Seen time.Time
	// Kernel says that At is the kernel's timestamp of these bytes.
	Kernel bool
}

// timedConn is a connection that knows when the bytes of its last Read arrived. A Read after its
// deadline still returns bytes that arrived before it.
type timedConn interface {
	net.Conn
	arrival() Arrival
	// quiet reports whether nothing is waiting to be read, not even the end of the stream. It can
	// be called during a Read. If the system cannot tell, it returns true.
	quiet() bool
	// provesSilence reports whether a Read that failed for its deadline proves that nothing had
	// arrived before the deadline, however late the Read was.
	provesSilence() bool
}

// readTimed uses the times of its reads.
type readTimed struct {
	net.Conn
	last Arrival
}

func (c *readTimed) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	now := time.Now()
	c.last = Arrival{At: now, Seen: now}
	return n, err
}

func (c *readTimed) arrival() Arrival { return c.last }

func (c *readTimed) quiet() bool { return peekQuiet(c.Conn) }

func (c *readTimed) provesSilence() bool { return false }
