package httplimit

import (
	"fmt"
	"log/slog"
	"net/http"
)

// NewServer returns a server of h that slow peers cannot block: each part of a request has a time
// limit, and c limits the connections. Connection errors go to logger.
func NewServer(h http.Handler, c *Connections, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           guard(h),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ConnState:         c.setState,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}

// guard refuses requests that a page of another site makes a browser send, limits request bodies, and
// tells browsers not to guess content types. It allows GET and HEAD from everywhere, because they
// change nothing.
func guard(h http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(refuseOrigin))
	return protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		h.ServeHTTP(w, r)
	}))
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
