// Package door is the prober's own port: what may come in by it, how much of it
// at once, and for how long. Whoever reaches the port can ask; nobody who does
// may cost the probes their memory, their descriptors or their time.
//
//	Connections  how many connections there are; those that wait give way
//	Gate         how many answers of a kind are under way; 503 beyond it
//	Pages        answers that are made one after the other
//	Scrapes      answers that are made once a second, for everybody
//	NewServer    how long one request may take
package httplimit

import "time"

// How much is taken in at once.
const (
	// maxConnections bounds the open connections, where descriptors are plenty: it
	// stays within what probe/wire leaves of them to others.
	maxConnections = 192
	// MaxScrapes, MaxPages and MaxReloads bound the answers of a kind that are
	// under way. Scrapes share their bytes, so that there may be more of them.
	MaxScrapes, MaxPages, MaxReloads = 64, 16, 4
	// sendBuffer is what the kernel may hold for a slow reader, which counts in
	// the memory of a container; it takes twice that.
	sendBuffer = 64 << 10
	// maxHeader bounds a request's header, and maxBody its body, in bytes.
	maxHeader, maxBody = 16 << 10, 64 << 10
	// maxStreams bounds the requests under way on one connection of HTTP/2.
	maxStreams = 16
)

// How long things may take.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 15 * time.Second
	// writeTimeout covers the making of an answer, too.
	writeTimeout = 30 * time.Second
	idleTimeout  = 2 * time.Minute
	// busyTimeout is after how long a request is no reason any more to keep its
	// connection when there are too many: a scrape takes less.
	busyTimeout = 5 * time.Second
	// sendTimeout is what a reader may take for an answer that is there.
	sendTimeout = 10 * time.Second
	// renderTimeout bounds the wait for an answer to be made, and its making.
	renderTimeout = 10 * time.Second
	// freshFor is how long a rendering of /metrics answers for another one.
	freshFor = time.Second
)
