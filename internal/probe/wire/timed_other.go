//go:build !linux

package wire

import "net"

func newTimedConn(c net.Conn) timedConn { return &readTimed{Conn: c} }

// TimestampSource returns where the timestamps of events come from: "kernel" or "read".
func TimestampSource() string { return "read" }
