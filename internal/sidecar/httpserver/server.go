// Package httpserver makes the server of the prober's own port. Each part of a request has a time limit,
// and all scrapes of a second share a rendering.
package httpserver

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const (
	// maxHeader and maxBody limit a request, in bytes.
	maxHeader, maxBody = 16 << 10, 64 << 10
	// maxStreams limits the concurrent requests of one HTTP/2 connection.
	maxStreams    = 16
	headerTimeout = 10 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = 20 * time.Second // includes the rendering
	idleTimeout   = 2 * time.Minute
	// freshFor is how long a rendering of /metrics is used.
	freshFor = time.Second
)

// New returns a server of h. Connection errors go to logger.
func New(h http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           Guard(h, maxBody),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}

// Caller returns the address of the client without its port.
func Caller(r *http.Request) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // a socket without ports
	}
	return address
}

// Guard refuses requests that a page of another site makes a browser send, limits request bodies to
// bodyLimit bytes, and tells browsers not to guess content types. It lets GET and HEAD pass: a GET that changes something
// needs OwnSite.
func Guard(h http.Handler, bodyLimit int64) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(refuseOrigin))
	return protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
		h.ServeHTTP(w, r)
	}))
}

// OwnSite protects h, which changes state, from web pages of other sites. It refuses requests of any
// method that such a page may have made a browser send, including pages whose name resolves to this
// process (DNS rebinding). trusts reports whether a request with an unknown Host is served.
func OwnSite(h http.Handler, trusts func(*http.Request) bool) http.Handler {
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asPost := *r // CrossOriginProtection does not check GET
		asPost.Method = http.MethodPost
		switch {
		case protection.Check(&asPost) != nil:
			refuseOrigin(w, r)
		case r.Method != http.MethodPost && strings.HasPrefix(r.UserAgent(), "Mozilla/"):
			// Over plain HTTP, a GET of another site's page has neither Origin nor
			// Sec-Fetch-Site. All browsers, and no scraper, send such a User-Agent.
			http.Error(w, "refused: a browser sent this request, perhaps for a page of another site; send it with Prometheus or with curl", http.StatusForbidden)
		case !isUnforgeable(HostOf(r.Host)) && !trusts(r):
			http.Error(w, fmt.Sprintf("refused: the request changes something, and a web page may have led its Host, %.200q, to this address; "+
				"use the IP address or a name without dots, or set a password or client certificates with --web.config.file, "+
				"or write the name in alerting.external_url", r.Host), http.StatusForbidden)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// HostOf returns the host of a Host header, in lower case and without its port.
func HostOf(header string) string {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = header
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// isUnforgeable reports whether no web page can have this host unless this process serves it. A page
// of another site has a name in the public DNS; an IP address, a name without dots and a name in one
// of the private domains cannot be registered there.
func isUnforgeable(host string) bool {
	_, err := netip.ParseAddr(host)
	domain := host[strings.LastIndex(host, ".")+1:]
	return err == nil || slices.Contains([]string{host, "svc", "local", "internal", "localhost"}, domain)
}

func refuseOrigin(w http.ResponseWriter, r *http.Request) {
	origin := fmt.Sprintf("Origin: %.200q", r.Header.Get("Origin"))
	if r.Header.Get("Origin") == "" {
		origin = fmt.Sprintf("Sec-Fetch-Site: %.50q", r.Header.Get("Sec-Fetch-Site"))
	}
	text := fmt.Sprintf("refused: a page of another site (%s) made a browser send this request; "+
		"send it from a page of this address, or with curl", origin)
	http.Error(w, text, http.StatusForbidden)
}
