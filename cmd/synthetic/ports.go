package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/exporter-toolkit/web"
)

// ports are the listeners that the --web flags name. They are opened before any request
// to a target, so that a mistake or a port in use shows first.
type ports struct {
	flags     *web.FlagConfig
	logger    *slog.Logger
	listeners []net.Listener
}

// addWebFlags adds the flags of ports.
func addWebFlags(c *kingpin.CmdClause, address, help string) *web.FlagConfig {
	f := &web.FlagConfig{WebSystemdSocket: new(bool), WebConfigFile: new(string)}
	f.WebListenAddresses = c.Flag("web.listen-address", help).Default(address).Strings()
	return f
}

// openPorts checks the web configuration and listens.
func openPorts(flags *web.FlagConfig, logger *slog.Logger) (*ports, error) {
	if err := web.Validate(*flags.WebConfigFile); err != nil {
		return nil, usagef("--web.config.file=%s: %w; write it as the page that \"synthetic run --help\" names says", *flags.WebConfigFile, err)
	}
	p := &ports{flags: flags, logger: logger}
	for _, addr := range *flags.WebListenAddresses {
		l, err := listen("web.listen-address", addr)
		if err != nil {
			p.close()
			return nil, err
		}
		p.listeners = append(p.listeners, l)
	}
	return p, nil
}

// listen listens on the address of a flag.
func listen(flag, addr string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, usagef("--%s=%s: %w; write for example :9877 or 127.0.0.1:9877", flag, addr, err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serving HTTP: %w; choose another --%s", err, flag)
	}
	return l, nil
}

// addresses returns the addresses of the listeners, separated by spaces.
func (p *ports) addresses() string {
	var all []string
	for _, l := range p.listeners {
		all = append(all, l.Addr().String())
	}
	return strings.Join(all, " ")
}

// onlyLoopback reports whether only this machine can reach the listeners.
func (p *ports) onlyLoopback() bool {
	return !slices.ContainsFunc(p.listeners, func(l net.Listener) bool {
		tcp, ok := l.Addr().(*net.TCPAddr)
		return !ok || !tcp.IP.IsLoopback()
	})
}

// serve serves on all listeners until the server is closed.
func (p *ports) serve(s *http.Server) error {
	return web.ServeMultiple(p.listeners, s, p.flags, p.logger)
}

// close closes the listeners. A server that has run has closed them already.
func (p *ports) close() {
	for _, l := range p.listeners {
		_ = l.Close()
	}
}
