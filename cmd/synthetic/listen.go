package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/exporter-toolkit/web"
)

// endpoint is where a command serves: the listeners of the usual flags of an
// exporter, with what its web configuration file asks for.
type endpoint struct {
	flags     *web.FlagConfig
	logger    *slog.Logger
	listeners []net.Listener // nil: the toolkit opens its own
}

// openWeb checks the web configuration and takes the ports, so that a mistake
// or a port in use shows before anything is sent to a target.
func openWeb(flags *web.FlagConfig, logger *slog.Logger) (*endpoint, error) {
	if err := web.Validate(*flags.WebConfigFile); err != nil {
		return nil, usagef("--web.config.file=%s: %w", *flags.WebConfigFile, err)
	}
	w := &endpoint{flags: flags, logger: logger}
	if ofToolkit(flags) {
		return w, nil
	}
	for _, addr := range *flags.WebListenAddresses {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			w.close()
			return nil, usagef("--web.listen-address=%s: %w; write for example :9877 or 127.0.0.1:9877", addr, err)
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			w.close()
			return nil, fmt.Errorf("serving HTTP: %w; choose another --web.listen-address", err)
		}
		w.listeners = append(w.listeners, l)
	}
	return w, nil
}

// ofToolkit says whether the sockets come from where only the toolkit gets
// them: from systemd or from a hypervisor.
func ofToolkit(flags *web.FlagConfig) bool {
	return flags.WebSystemdSocket != nil && *flags.WebSystemdSocket ||
		slices.ContainsFunc(*flags.WebListenAddresses, func(addr string) bool { return strings.HasPrefix(addr, "vsock://") })
}

// serve serves until the server is closed.
func (w *endpoint) serve(server *http.Server) error {
	if w.listeners == nil {
		return web.ListenAndServe(server, w.flags, w.logger)
	}
	return web.ServeMultiple(w.listeners, server, w.flags, w.logger)
}

// close gives the ports back; a server that has served did so already.
func (w *endpoint) close() {
	for _, l := range w.listeners {
		_ = l.Close()
	}
}
