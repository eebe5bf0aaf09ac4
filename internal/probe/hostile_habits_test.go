package probe_test

import (
	"fmt"
	"net"
	"strings"

	"synthetic/internal/probe"
)

// habits returns single protocol violations.
func habits() []habit {
	const (
		success   = probe.Success
		lost      = probe.ConnectError
		noTLS     = probe.TLSError
		noToken   = probe.TimeoutFirstToken
		stall     = probe.Stall
		total     = probe.TimeoutTotal
		malformed = probe.Malformed
		cut       = probe.Truncated
		empty     = probe.Empty
		refused   = probe.HTTP4xx
		broken    = probe.HTTP5xx
	)
	either := func(o ...probe.Outcome) []probe.Outcome { return o }
	long := strings.Repeat("x", 64<<10)
	return []habit{
		// Headers.
		{name: "headers without end", speak: repeats(ok, "X-More: and more\r\n"), patient: true, want: either(malformed)},
		{name: "one header line without end", speak: repeats(ok+"X-Long: ", "x"), patient: true, want: either(malformed)},
		{name: "a header name without end", speak: repeats(ok, "x"), patient: true, want: either(malformed)},
		{name: "a status line without end", speak: repeats("HTTP/1.1 200 ", "O"), patient: true, want: either(malformed)},
		{name: "an endless continuation line", speak: repeats(ok+"X: y\r\n", " folded\r\n"), patient: true, want: either(malformed)},
		{name: "headers that trickle", speak: trickles(ok, "X-More: and more\r\n"), want: either(noToken)},
		{name: "a header that stops", speak: saysAndHolds(ok + "X-Half: "), want: either(noToken)},
		{name: "headers without the empty line", speak: saysAndHolds(ok + "X: y\r\n"), want: either(noToken)},
		{name: "headers cut", speak: says(ok + "Content-Ty"), patient: true, want: either(lost)},
		{name: "headers reset", speak: saysAndResets(ok + "Content-Ty"), patient: true, want: either(lost)},
		{name: "NUL bytes in the status", speak: says("HTTP/1.1 2\x00\x00 OK\r\n\r\n"), patient: true, want: either(malformed)},
		{name: "NUL bytes in a header name", speak: says(ok + "X\x00Y: z\r\n\r\n"), patient: true, want: either(malformed)},
		{name: "NUL bytes alone", speak: repeats("", "\x00"), patient: true, want: either(malformed)},
		{name: "a header without a colon", speak: says(ok + "no colon here\r\n\r\n"), patient: true, want: either(malformed)},
		{name: "a header with a space before its colon", speak: says(ok + "Content-Length : 3\r\n\r\nabc"), patient: true, want: either(malformed, empty)},
		{name: "CR alone ends lines", speak: saysAndHolds("HTTP/1.1 200 OK\rContent-Length: 0\r\r"), want: either(noToken, malformed)},
		{name: "LF alone ends lines", speak: says("HTTP/1.1 200 OK\nConnection: close\n\n" + answer), patient: true, want: either(success)},
		{name: "empty lines before the status", speak: repeats("", "\r\n"), patient: true, want: either(malformed)},

		// Status lines.
		{name: "a huge status", speak: says("HTTP/1.1 99999 Huge\r\n\r\n"), patient: true, want: either(malformed)},
		{name: "status 999", speak: says("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"), patient: true, want: either(broken)},
		{name: "status 000", speak: says("HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n"), patient: true, want: either(refused, malformed, lost)},
		{name: "a negative status", speak: says("HTTP/1.1 -20 Odd\r\n\r\n"), patient: true, want: either(malformed)},
		{name: "a version from the future", speak: says("HTTP/9.9 200 OK\r\nConnection: close\r\n\r\n" + answer), patient: true, want: either(success, malformed)},
		{name: "HTTP/0.9", speak: says("<html>hello</html>\n"), patient: true, want: either(malformed, lost)},
		{name: "an HTTP/2 preface", speak: saysAndHolds("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), patient: true, want: either(malformed)},
		{name: "HTTP/2 frames", speak: saysAndHolds("\x00\x00\x12\x04\x00\x00\x00\x00\x00\n\x00\x00"), want: either(malformed, noToken)},
		{name: "an SSH banner", speak: saysAndHolds("SSH-2.0-OpenSSH_9.9\r\n"), patient: true, want: either(malformed)},
		{name: "a banner before the request", deaf: true, speak: saysAndHolds("220 smtp.example ready\r\n"), patient: true, want: either(malformed)},
		{name: "TLS in the clear", speak: saysAndHolds("\x15\x03\x03\x00\x02\x02\x28"), want: either(malformed, noToken)},

		// Interim responses.
		{name: "100 Continue without end", speak: repeats("", "HTTP/1.1 100 Continue\r\n\r\n"), patient: true, want: either(malformed)},
		{name: "early hints without end", speak: repeats("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), patient: true, want: either(malformed)},
		{name: "an interim response, then nothing", speak: saysAndHolds("HTTP/1.1 102 Processing\r\n\r\n"), want: either(noToken)},
		{name: "interim responses that trickle", speak: trickles("", "HTTP/1.1 102 Processing\r\n\r\n"), want: either(noToken, malformed)},
		{name: "switching protocols unasked", speak: saysAndHolds("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), patient: true, want: either(malformed)},
		{name: "switching protocols, and bytes", speak: repeats("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "\x00\x01"), patient: true, want: either(malformed)},

		// Framing of bodies.
		{name: "less than Content-Length", speak: says(ok + "Content-Length: 999999\r\n\r\n" + hello), patient: true, want: either(cut)},
		{name: "less than Content-Length, and held", speak: saysAndHolds(ok + "Content-Length: 999999\r\n\r\n" + hello), want: either(stall)},
		{name: "more than Content-Length", speak: repeats(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", ok, len(answer), answer), "junk"), patient: true, want: either(success)},
		{name: "an astronomic Content-Length", speak: says(ok + "Content-Length: 9223372036854775807\r\n\r\n" + hello), patient: true, want: either(cut)},
		{name: "a Content-Length too large for its type", speak: says(ok + "Content-Length: 99999999999999999999\r\n\r\n" + hello), patient: true, want: either(malformed)},
		{name: "a negative Content-Length", speak: says(ok + "Content-Length: -1\r\n\r\n" + hello), patient: true, want: either(malformed)},
		{name: "two Content-Lengths", speak: says(ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), patient: true, want: either(malformed)},
		{name: "Content-Length and chunked", speak: says(ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(answer) + lastChunk), patient: true, want: either(success)},
		{name: "an unknown transfer coding", speak: says(ok + "Transfer-Encoding: snail\r\n\r\n" + answer), patient: true, want: either(malformed)},
		{name: "chunked twice over", speak: says(ok + "Transfer-Encoding: chunked, chunked\r\n\r\n" + chunk(answer) + lastChunk), patient: true, want: either(malformed)},
		{name: "chunked in name only", speak: says(sseHead + answer), patient: true, want: either(cut)},
		{name: "chunked in name only, and held", speak: saysAndHolds(sseHead + answer), patient: true, want: either(cut)},
		{name: "a chunk of 16 EiB", speak: repeats(sseHead+"ffffffffffffffff\r\n", "data: "+long), want: either(malformed, cut)},
		{name: "a chunk size beyond 64 bits", speak: saysAndHolds(sseHead + "fffffffffffffffff\r\n" + hello), patient: true, want: either(cut)},
		{name: "a negative chunk size", speak: saysAndHolds(sseHead + "-5\r\nhello\r\n"), patient: true, want: either(cut)},
		{name: "an empty chunk size", speak: saysAndHolds(sseHead + "\r\n" + answer), patient: true, want: either(cut)},
		{name: "a chunk longer than its size", speak: saysAndHolds(sseHead + "3\r\n" + answer), patient: true, want: either(cut)},
		{name: "a chunk size of zeros without end", speak: repeats(sseHead, "0"), patient: true, want: either(cut)},
		{name: "a chunk extension without end", speak: repeats(sseHead+"5;", "x"), patient: true, want: either(cut)},
		{name: "a chunk extension on every byte", speak: repeats(sseHead, "1;"+strings.Repeat("x", 1000)+"\r\n:\r\n"), want: either(noToken, malformed, cut)},
		{name: "chunks of one byte that say nothing", speak: repeats(sseHead, "1\r\n\n\r\n"), want: either(noToken, malformed, cut)},
		{name: "trailers without end", speak: repeats(sseHead+chunk(hello, finish)+"0\r\n", "X-Trailer: and more\r\n"), patient: true, want: either(cut)},
		{name: "a trailer line without end", speak: repeats(sseHead+chunk(hello, finish)+"0\r\nX: ", "x"), patient: true, want: either(cut)},
		{name: "trailers that never end", speak: saysAndHolds(sseHead + chunk(hello, finish) + "0\r\nX: y\r\n"), want: either(stall)},
		{name: "malformed trailers", speak: says(sseHead + chunk(hello, finish) + "0\r\nno colon\r\n\r\n"), patient: true, want: either(cut)},
		{name: "a 204 with a body", speak: says("HTTP/1.1 204 No Content\r\n\r\n" + answer), patient: true, want: either(empty)},
		{name: "a 304 with a body", speak: says("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello"), patient: true, want: either(malformed)},
		{name: "a 205 with a body without end", speak: repeats("HTTP/1.1 205 Reset Content\r\n\r\n", ": nothing\n"), want: either(noToken, malformed)},

		// Compression.
		{name: "a gzip bomb in one event", speak: says(gzipHead + bomb("data: "+long, 32<<20)), patient: true, want: either(malformed)},
		{name: "a gzip bomb of comments", speak: says(gzipHead + bomb(": "+long+"\n\n", 32<<20)), patient: true, want: either(malformed)},
		{name: "a gzip bomb of tokens", speak: says(gzipHead + bomb(hello, 32<<20)), patient: true, want: either(malformed)},
		{name: "gzip in name only", speak: says(gzipHead + answer), patient: true, want: either(cut)},
		{name: "gzip cut", speak: says(gzipHead + bomb(answer, 1<<20)[:100]), patient: true, want: either(cut, success, empty)},
		{name: "a gzip header that stops", speak: saysAndHolds(gzipHead + "\x1f\x8b\x08"), want: either(noToken)},
		{name: "a gzip name without end", speak: repeats(gzipHead+"\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03", "x"), want: either(cut, noToken)},

		{name: "zstd unasked", speak: says(strings.Replace(gzipHead, "gzip", "zstd", 1) + "\x28\xb5\x2f\xfd" + answer), patient: true, want: either(malformed)},
		{name: "brotli unasked, without end", speak: repeats(strings.Replace(gzipHead, "gzip", "br", 1), "x"), patient: true, want: either(malformed)},
		{name: "deflate unasked", speak: says(strings.Replace(gzipHead, "gzip", "deflate", 1) + answer), patient: true, want: either(malformed)},
		{name: "gzip twice over", speak: says(strings.Replace(gzipHead, "gzip", "gzip, gzip", 1) + bomb(answer, 1)), patient: true, want: either(malformed)},

		// Event streams.
		{name: "comments without end", speak: repeats(closeHead, ": ping\n\n"), patient: true, want: either(malformed)},
		{name: "a line without end", speak: repeats(closeHead+"data: ", "x"), patient: true, want: either(malformed)},
		{name: "data lines without an event", speak: repeats(closeHead, "data: x\n"), patient: true, want: either(malformed)},
		{name: "bare CRs without end", speak: repeats(closeHead, "\r"), patient: true, want: either(malformed)},
		{name: "role events without end", speak: repeats(closeHead, role), want: either(noToken, malformed)},
		{name: "tokens without end", speak: repeats(closeHead, hello), want: either(malformed, total)},
		{name: "a token that trickles", speak: trickles(closeHead, strings.ReplaceAll(hello, "Hello", long)), want: either(noToken)},
		{name: "deeply nested JSON", speak: says(closeHead + "data: " + strings.Repeat("[", 500_000) + "\n\n"), patient: true, want: either(malformed)},
		{name: "[DONE], and a body without end", speak: repeats(closeHead+answer, ": more\n"), patient: true, want: either(success)},
		{name: "a refusal without end", speak: repeats("HTTP/1.1 500 Oops\r\n\r\n", "sorry "), patient: true, want: either(broken)},
		{name: "a refusal that trickles", speak: trickles("HTTP/1.1 503 Busy\r\n\r\n", "sorry "), want: either(broken)},
		{name: "a redirect to itself", speak: says("HTTP/1.1 308 Permanent Redirect\r\nLocation: /v1/chat/completions\r\nContent-Length: 0\r\n\r\n"), patient: true, want: either(malformed)},

		// Closing.
		{name: "closed at once", deaf: true, speak: says(), patient: true, want: either(lost)},
		{name: "reset at once", deaf: true, speak: saysAndResets(), patient: true, want: either(lost)},
		{name: "closed after the request", speak: says(), patient: true, want: either(lost)},
		{name: "closed after the headers", speak: says(closeHead), patient: true, want: either(empty)},
		{name: "reset after the headers", speak: saysAndResets(sseHead), patient: true, want: either(cut, lost)},
		{name: "closed amid a chunk size", speak: says(sseHead + chunk(hello) + "4"), patient: true, want: either(cut)},
		{name: "closed amid a chunk", speak: says(sseHead + "400\r\n" + hello), patient: true, want: either(cut)},
		{name: "closed before the last chunk", speak: says(sseHead + chunk(hello, finish)), patient: true, want: either(cut)},
		{name: "half closed, and held", speak: func(p *peer) {
			p.say(closeHead, answer)
			_ = p.Conn.(*net.TCPConn).CloseWrite()
			p.hold()
		}, patient: true, want: either(success)},
		{name: "silent", speak: saysAndHolds(), want: either(noToken)},
		{name: "answered before the request was read", deaf: true, speak: saysAndHolds(jsonResponse("413 Content Too Large", `{"error":{"message":"too large"}}`)), patient: true, want: either(refused)},

		// TLS.
		{name: "no TLS where it is due", tls: true, deaf: true, speak: saysAndHolds(closeHead), patient: true, want: either(noTLS)},
		{name: "TLS garbage", tls: true, deaf: true, speak: repeats("\x16\x03\x03\x40\x00", "\xff"), patient: true, want: either(noTLS)},
		{name: "a TLS alert", tls: true, deaf: true, speak: saysAndHolds("\x15\x03\x03\x00\x02\x02\x28"), patient: true, want: either(noTLS)},
		{name: "a silent TLS handshake", tls: true, deaf: true, speak: saysAndHolds(), want: either(noTLS)},
		{name: "a TLS handshake that trickles", tls: true, deaf: true, speak: trickles("\x16\x03\x03\x40\x00\x02\x00\x3f\xfc", "\x00"), want: either(noTLS)},
		{name: "closed amid the TLS handshake", tls: true, deaf: true, speak: says("\x16\x03\x03\x40\x00"), patient: true, want: either(noTLS)},
	}
}
