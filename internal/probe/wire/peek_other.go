//go:build !unix

package wire

import "net"

// peekQuiet knows no sockets here.
func peekQuiet(net.Conn) (quiet, ok bool) { return false, false }
