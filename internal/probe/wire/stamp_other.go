//go:build !linux

package wire

import "net"

// stamp returns c with the time of its reads.
func stamp(c net.Conn) stamped { return &readTimed{Conn: c} }

// TimestampSource returns where event timestamps come from: "kernel" or
// "read".
func TimestampSource() string { return "read" }
