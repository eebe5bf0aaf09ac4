//go:build linux

// Command bench measures what a token of a stream costs: read by the path of a probe alone, by "synthetic run" and by
// "synthetic sweep", each beside the same turns by plain net/http. It writes the table of docs/background/performance.md,
// or compares the ratios with those of the table.
//
// Server and client are processes on a core of their own. The server writes into each token the time directly before
// its write(2). The kinds of clients alternate, so that a slow minute of the machine concerns all of them.
package main
