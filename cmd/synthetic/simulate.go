package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/exporter-toolkit/web"

	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
)

type simulateFlags struct {
	options   simulate.Options
	web       *web.FlagConfig
	incidents []string
	engine    []string
	preset    string
}

func addSimulate(app *kingpin.Application) command {
	f := &simulateFlags{}
	c := app.Command("simulate", `Serve a simulated deployment.

It serves the APIs of OpenAI (chat, completions, responses), Azure and
Anthropic, and exports /metrics with vLLM's
names. The text of its answers is invented. Delays have the medians of --engine,
whatever the load is. With --preset, requests share queue, batch and cache as in a
measured deployment. Examples:
  synthetic simulate --engine=first_token=300ms,inter_token=30ms
  synthetic simulate --preset=phase0 --engine=load=40 \
    --incident=slow_prefill,at=2m,for=5m,factor=4

Keys of --engine and their defaults:
`+engineHelp())
	f.web = addWebFlags(c, "127.0.0.1:8000", "Address of the port. Repeatable.")
	c.Flag("model", "Name of the model.").Default("simulated-chat").StringVar(&f.options.Model)
	c.Flag("seed", "Seed of the random texts, delays and faults.").Default("1").Uint64Var(&f.options.Seed)
	c.Flag("engine", "Settings of the engine; repeatable. The keys are listed above.").PlaceHolder("KEY=VALUE,...").StringsVar(&f.engine)
	c.Flag("preset", "Behave like a measured deployment instead of drawing delays: "+
		strings.Join(cluster.Presets(), ", ")+".").EnumVar(&f.preset, cluster.Presets()...)
	kinds := strings.Trim(strings.ReplaceAll(fmt.Sprint(simulate.IncidentKinds()), " ", ", "), "[]")
	c.Flag("incident", "A fault, such as http_500,at=30s,for=5m,share=0.2; repeatable. Without a share it is in every request, without times from the start to the end. Kinds: "+kinds+". The kinds hang, slow_decode, slow_prefill and worker_loss need --preset, as in slow_prefill,factor=4 or worker_loss,workers=0+2.").
		PlaceHolder("INCIDENT").StringsVar(&f.incidents)
	return command{c, f.run}
}

func (f *simulateFlags) run(ctx context.Context, e env) error {
	served, err := f.deployment()
	if err != nil {
		return err
	}
	ports, err := openPorts(f.web, e.logger)
	if err != nil {
		return err
	}
	defer ports.close()
	e.logger.Info("Serving a simulated deployment; OpenAI's API is below /v1", "addresses", ports.addresses(), "model", f.options.Model)
	running, stopRunning := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { served.Run(running) })
	defer background.Wait()
	defer stopRunning()
	// Requests end with ctx: a request that hangs must not delay the exit.
	server := &http.Server{
		Handler:           served,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	err = ports.serve(server)
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serving the simulated deployment: %w", err)
}

// deployment returns the deployment that the flags describe.
func (f *simulateFlags) deployment() (*simulate.Deployment, error) {
	o := &f.options
	if o.Model == "" {
		return nil, usagef("--model is empty: write a name")
	}
	for _, text := range f.incidents {
		i, err := simulate.ParseIncident(text)
		if err != nil {
			return nil, usagef("--incident: %w", err)
		}
		o.Incidents = append(o.Incidents, i)
	}
	if err := f.applyEngine(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, usagef("the deployment cannot be simulated: %w", err)
	}
	return simulate.New(*o), nil
}
