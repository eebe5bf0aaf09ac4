package sidecar

import (
	"net"
	"net/http"

	"synthetic/internal/bound"
	"synthetic/internal/sidecar/door"
)

// port has the bounds of what comes in: however many ask, what they cost is
// known.
type port struct {
	connections             *door.Connections
	scrapes, pages, reloads *door.Gate
}

func newPort() port {
	return port{
		connections: door.NewConnections(),
		scrapes:     door.NewGate("scrapes", door.MaxScrapes),
		pages:       door.NewGate("pages", door.MaxPages),
		reloads:     door.NewGate("reloads", door.MaxReloads),
	}
}

func (p port) bounds() []bound.Bound {
	return []bound.Bound{
		{Name: "inbound_connections", Level: p.connections.Level},
		{Name: "inbound_scrapes", Level: p.scrapes.Level},
		{Name: "inbound_pages", Level: p.pages.Level},
		{Name: "inbound_reloads", Level: p.reloads.Level},
	}
}

// Server returns a server of Handler; its listeners are those of Bounded.
func (s *Sidecar) Server() *http.Server {
	return door.NewServer(s.Handler(), s.port.connections, s.logger)
}

// Bounded returns l with the bound on connections that all listeners share.
func (s *Sidecar) Bounded(l net.Listener) net.Listener { return s.port.connections.Of(l) }
