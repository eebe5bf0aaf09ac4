package main

import (
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/exporter-toolkit/web"
	webflag "github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"synthetic/internal/sidecar/httplimit"
	"synthetic/internal/study/sweep"
)

// sweepWeb serves the metrics of a running sweep if the flags give an address.
type sweepWeb struct{ flags *web.FlagConfig }

func (w *sweepWeb) add(c *kingpin.CmdClause) {
	w.flags = webflag.AddFlags(c, "")
	c.GetFlag("web.listen-address").Help("Address of /metrics while the sweep runs, for example :9879; for the dashboard Synthetic / Study. Repeatable. Default: none.").PlaceHolder("ADDRESS")
}

// serve starts to serve, and sets the exporter of the options. The caller has to call stop.
func (w *sweepWeb) serve(o *sweep.Options, logger *slog.Logger) (stop func(), err error) {
	*w.flags.WebListenAddresses = slices.DeleteFunc(*w.flags.WebListenAddresses, func(addr string) bool { return addr == "" })
	if len(*w.flags.WebListenAddresses) == 0 && !(w.flags.WebSystemdSocket != nil && *w.flags.WebSystemdSocket) {
		return func() {}, nil
	}
	ports, err := openPorts(w.flags, logger)
	if err != nil {
		return nil, err
	}
	o.Exporter = sweep.NewExporter("0")
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", o.Exporter)
	connections := httplimit.NewConnections(httplimit.MaxConnections)
	ports.wrap(connections.Limit)
	server := httplimit.NewServer(mux, connections, logger)
	logger.Info("Serving the metrics of this sweep", "addresses", ports.addresses())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := ports.serve(server); err != nil && err != http.ErrServerClosed {
			logger.Error("Serving the metrics of this sweep failed", "err", err)
		}
	})
	return func() {
		_ = server.Close()
		ports.close()
		serving.Wait()
	}, nil
}
