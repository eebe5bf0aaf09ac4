package wire

import (
	"net"
	"time"

	"synthetic/internal/probe/stream"
)

// readTimed stamps bytes with the time that the read returned.
type readTimed struct {
	net.Conn
	last stream.Arrival
}

func (c *readTimed) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	now := time.Now()
	c.last = stream.Arrival{At: now, Seen: now}
	return n, err
}

func (c *readTimed) arrival() stream.Arrival { return c.last }

func (c *readTimed) quiet() bool { return peekQuiet(c.Conn) }
