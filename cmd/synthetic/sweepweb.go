package main

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/exporter-toolkit/web"
	webflag "github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"synthetic/internal/sidecar/httplimit"

	"synthetic/internal/study/sweep"
)

// sweepWeb serves the figures of a sweep under way, if an address is given.
type sweepWeb struct{ flags *web.FlagConfig }

func (w *sweepWeb) add(c *kingpin.CmdClause) {
	w.flags = webflag.AddFlags(c, "")
	c.GetFlag("web.listen-address").Help("Serve the figures of the sweep under way at /metrics, for the dashboard Synthetic / Study: `:9879`, for example. Off by default; repeatable.").PlaceHolder("ADDRESS")
}

// serve begins to serve, and lets the options tell the exporter; stop ends it. shard
// is 0 for a sweep in one process.
func (w *sweepWeb) serve(o *sweep.Options, shard int, logger *slog.Logger) (stop func(), err error) {
	*w.flags.WebListenAddresses = slices.DeleteFunc(*w.flags.WebListenAddresses, func(addr string) bool { return addr == "" })
	if len(*w.flags.WebListenAddresses) == 0 && !(w.flags.WebSystemdSocket != nil && *w.flags.WebSystemdSocket) {
		return func() {}, nil
	}
	ports, err := openPorts(w.flags, logger)
	if err != nil {
		return nil, err
	}
	x := sweep.NewExporter(shard)
	shown := o.Progress
	o.Live = x.Level
	o.Progress = func(p sweep.Progress) {
		x.Progress(p)
		shown(p)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", x)
	connections := httplimit.NewConnections()
	ports.bound(connections.Limit)
	server := httplimit.NewServer(mux, connections, logger)
	logger.Info("Serving the figures of this sweep", "addresses", strings.Join(ports.addresses(), " "))
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := ports.serve(server); err != nil && err != http.ErrServerClosed {
			logger.Error("The figures of this sweep are no longer served", "err", err)
		}
	})
	return func() {
		_ = server.Close() // whoever scrapes has had its time
		ports.close()
		serving.Wait()
	}, nil
}
