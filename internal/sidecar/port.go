package sidecar

import (
	"net"
	"net/http"

	"synthetic/internal/bound"
	"synthetic/internal/sidecar/httplimit"
)

// httpLimits bounds connections and concurrent requests, and so the cost of answering them.
type httpLimits struct {
	connections             *httplimit.Connections
	scrapes, pages, reloads *httplimit.Gate
}

func newHTTPLimits() httpLimits {
	return httpLimits{
		connections: httplimit.NewConnections(),
		scrapes:     httplimit.NewGate("scrapes", httplimit.MaxScrapes),
		pages:       httplimit.NewGate("pages", httplimit.MaxPages),
		reloads:     httplimit.NewGate("reloads", httplimit.MaxReloads),
	}
}

func (p httpLimits) bounds() []bound.Bound {
	return []bound.Bound{
		{Name: "inbound_connections", Level: p.connections.Level},
		{Name: "inbound_scrapes", Level: p.scrapes.Level},
		{Name: "inbound_pages", Level: p.pages.Level},
		{Name: "inbound_reloads", Level: p.reloads.Level},
	}
}

// Server returns a server for Handler. Its listeners must come from Bounded.
func (s *Sidecar) Server() *http.Server {
	return httplimit.NewServer(s.Handler(), s.limits.connections, s.logger)
}

// Bounded limits the connections of l. All listeners share one limit.
func (s *Sidecar) Bounded(l net.Listener) net.Listener { return s.limits.connections.Limit(l) }
