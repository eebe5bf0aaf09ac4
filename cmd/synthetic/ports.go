package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/mdlayher/vsock"
	"github.com/prometheus/exporter-toolkit/web"
)

// ports are the listeners that the --web flags name. They are opened before any request
// to a target, so that a mistake or a port in use shows first.
type ports struct {
	flags     *web.FlagConfig
	logger    *slog.Logger
	listeners []net.Listener
}

// openPorts checks the web configuration and listens.
func openPorts(flags *web.FlagConfig, logger *slog.Logger) (*ports, error) {
	if err := web.Validate(*flags.WebConfigFile); err != nil {
		return nil, usagef("--web.config.file=%s: %w", *flags.WebConfigFile, err)
	}
	p := &ports{flags: flags, logger: logger}
	if flags.WebSystemdSocket != nil && *flags.WebSystemdSocket {
		return p, p.inherit()
	}
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

// inherit takes the sockets that systemd passes.
func (p *ports) inherit() (err error) {
	p.listeners, err = activation.Listeners()
	switch {
	case err != nil:
		return fmt.Errorf("--web.systemd-socket: %w", err)
	case len(p.listeners) == 0:
		return usagef("--web.systemd-socket: systemd passed no socket: start the program with a .socket unit, or leave the flag out")
	}
	return nil
}

// listen listens on the address of a flag. vsock://:PORT is a port for the hypervisor.
func listen(flag, addr string) (net.Listener, error) {
	if strings.HasPrefix(addr, "vsock://") {
		return listenVsock(flag, addr)
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, usagef("--%s=%s: %w; write for example :9877 or 127.0.0.1:9877", flag, addr, err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serving HTTP: %w; choose another --%s", err, flag)
	}
	return l, nil
}

func listenVsock(flag, addr string) (net.Listener, error) {
	var port uint64
	u, err := url.Parse(addr)
	if err == nil {
		port, err = strconv.ParseUint(u.Port(), 10, 32)
	}
	if err != nil {
		return nil, usagef("--%s=%s: %w; write for example vsock://:9877", flag, addr, err)
	}
	l, err := vsock.Listen(uint32(port), nil)
	if err != nil {
		return nil, fmt.Errorf("serving HTTP: %w; choose another --%s", err, flag)
	}
	return l, nil
}

// wrap replaces each listener l with limit(l).
func (p *ports) wrap(limit func(net.Listener) net.Listener) {
	for i, l := range p.listeners {
		p.listeners[i] = limit(l)
	}
}

// addresses returns the addresses of the listeners, separated by spaces.
func (p *ports) addresses() string {
	var all []string
	for _, l := range p.listeners {
		all = append(all, l.Addr().String())
	}
	return strings.Join(all, " ")
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
