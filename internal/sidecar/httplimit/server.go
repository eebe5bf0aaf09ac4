package httplimit

import (
	"fmt"
	"log/slog"
	"net/http"
)

// NewServer returns a server of h that slow peers cannot block: each part of a request has a
// time limit, and c tracks the connections. Connection errors go to logger.
func NewServer(h http.Handler, c *Connections, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           Guard(h),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ConnState:         c.state,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}

// Guard refuses requests that another site's page makes a browser send, bounds request bodies,
// and tells browsers not to guess content types. GET and HEAD change nothing, so they are
// allowed from anywhere.
func Guard(h http.Handler) http.Handler {
	same := http.NewCrossOriginProtection()
	same.SetDenyHandler(http.HandlerFunc(crossSite))
	bounded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		h.ServeHTTP(w, r)
	})
	return same.Handler(bounded)
}

// crossSite answers a refused request.
func crossSite(w http.ResponseWriter, r *http.Request) {
	http.Error(w, fmt.Sprintf("refused: a page of another site (%s) asked a browser for this; ask from a page of this address, or with curl",
		origin(r)), http.StatusForbidden)
}

// origin returns the origin that a request claims.
func origin(r *http.Request) string {
	if from := r.Header.Get("Origin"); from != "" {
		return fmt.Sprintf("Origin: %.200q", from)
	}
	return fmt.Sprintf("Sec-Fetch-Site: %.50q", r.Header.Get("Sec-Fetch-Site"))
}
