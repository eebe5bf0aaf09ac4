// Package httplimit bounds what requests to the prober's own port can cost: memory, descriptors
// and time, whoever sends them.
//
// Connections limits connections; waiting ones are closed first. Gate limits concurrent answers
// of one kind and answers 503 beyond the limit. Pages renders one answer at a time. Scrapes
// renders at most once a second for all clients. NewServer bounds the time of a request.
package httplimit

import "time"

// Sizes.
const (
	// maxConnections bounds the open connections if descriptors are plentiful. It fits into
	// what probe/wire leaves to others.
	maxConnections = 192
	// MaxScrapes, MaxPages and MaxReloads bound the concurrent answers of each kind. Scrapes
	// share their bytes, so more of them are allowed.
	MaxScrapes, MaxPages, MaxReloads = 64, 16, 4
	// sendBuffer is the kernel buffer for a slow reader. The kernel takes twice that, and a
	// container's memory limit counts it.
	sendBuffer = 64 << 10
	// maxHeader and maxBody bound a request, in bytes.
	maxHeader, maxBody = 16 << 10, 64 << 10
	// maxStreams bounds the concurrent requests of one HTTP/2 connection.
	maxStreams = 16
)

// Times.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 15 * time.Second
	// writeTimeout includes the rendering.
	writeTimeout = 30 * time.Second
	idleTimeout  = 2 * time.Minute
	// busyTimeout is the age of a request from which its connection may be closed at the limit.
	// Scrapes are faster.
	busyTimeout = 5 * time.Second
	// sendTimeout bounds the time in which a client reads an answer.
	sendTimeout = 10 * time.Second
	// renderTimeout bounds the wait for the lock and the rendering.
	renderTimeout = 10 * time.Second
	// freshFor is the time for which a rendering of /metrics is reused.
	freshFor = time.Second
)
