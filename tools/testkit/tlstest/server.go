package tlstest

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Server requires the certificate and the token of its generation.
type Server struct {
	*httptest.Server
	now atomic.Pointer[Generation]
}

// NewServer serves h to clients with the generation's certificate and token. The token is
// the last word of the Authorization header, or the password of basic authentication.
func NewServer(t *testing.T, g Generation, h http.Handler) *Server {
	t.Helper()
	s := &Server{}
	s.now.Store(&g)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.knows(r) {
			http.Error(w, "this is not the token of today", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.now.Load().config() }}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *Server) knows(r *http.Request) bool {
	token := s.now.Load().Token
	_, password, basic := r.BasicAuth()
	return basic && password == token || strings.HasSuffix(r.Header.Get("Authorization"), " "+token)
}

// Rotate switches the server to the new generation only, and closes its connections.
func (s *Server) Rotate(g Generation) {
	s.now.Store(&g)
	s.CloseClientConnections()
}

// NewProxy returns the address of an HTTP proxy for any address.
func NewProxy(t *testing.T) string {
	t.Helper()
	var copies sync.WaitGroup
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		far, err := net.Dial("tcp", r.Host)
		if err != nil || r.Method != http.MethodConnect {
			http.Error(w, "cannot be reached", http.StatusBadGateway)
			return
		}
		copies.Add(2) // added before the server stops waiting for this connection
		near, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			copies.Add(-2)
			far.Close()
			return
		}
		_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			go func() {
				defer copies.Done()
				_, _ = io.Copy(way[0], way[1])
				near.Close()
				far.Close()
			}()
		}
	}))
	t.Cleanup(func() {
		proxy.Close()
		copies.Wait()
	})
	return proxy.URL
}

// Token returns the token that the server requires now.
func (s *Server) Token() string { return s.now.Load().Token }
