// Package httplimit limits what requests to the prober's own port can cost: memory, descriptors and
// time.
//
// Connections limits the connections; a waiting connection is closed before a busy one. Gate limits
// the concurrent answers of one kind and answers 503 beyond the limit. Pages renders one answer at a
// time. Scrapes renders at most once a second for all clients. NewServer limits the time of a request.
package httplimit

import "time"

const (
	// MaxConnections is the limit of the port, if there are enough descriptors. It fits into the reserve of
	// wire.MaxConnections.
	MaxConnections = 192
	// MaxScrapes, MaxPages and MaxReloads limit the concurrent answers of each kind. There can be
	// more scrapes, because they share their bytes.
	MaxScrapes, MaxPages, MaxReloads = 64, 16, 4
	// sendBuffer is the kernel buffer for a slow reader. The kernel takes twice that, and a
	// container's memory limit includes it.
	sendBuffer = 64 << 10
	// maxHeader and maxBody limit a request, in bytes.
	maxHeader, maxBody = 16 << 10, 64 << 10
	// maxStreams limits the concurrent requests of one HTTP/2 connection.
	maxStreams = 16
)

const (
	headerTimeout = 10 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = 30 * time.Second // includes the rendering
	idleTimeout   = 2 * time.Minute
	// busyTimeout is the age of a request after which its connection can be replaced. Scrapes are
	// faster.
	busyTimeout = 5 * time.Second
	// sendTimeout limits how long a client takes to read an answer.
	sendTimeout = 10 * time.Second
	// renderTimeout limits the wait for another rendering, and the rendering itself.
	renderTimeout = 10 * time.Second
	// freshFor is how long a rendering of /metrics is used.
	freshFor = time.Second
)
