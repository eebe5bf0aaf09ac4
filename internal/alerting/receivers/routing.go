package receivers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/config/receiver"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/eventrecorder"
	"github.com/prometheus/alertmanager/featurecontrol"
	"github.com/prometheus/alertmanager/inhibit"
	"github.com/prometheus/alertmanager/notify"
	"github.com/prometheus/alertmanager/template"
	"github.com/prometheus/alertmanager/timeinterval"
	"github.com/prometheus/client_golang/prometheus"
	promconfig "github.com/prometheus/common/config"
)

// routing holds the receivers, routes, time intervals and templates of one configuration.
type routing struct {
	options      Options
	integrations []*integration // in the order of the configuration
	senders      map[string][]notify.Integration
	templates    *template.Template
	windows      []window
	intervener   *timeinterval.Intervener
	stop         func() // after start
	// sending is read-locked while a message is sent and logged.
	sending sync.RWMutex
}

func newRouting(o Options) (*routing, error) {
	byName, templates, err := build(o)
	if err != nil {
		return nil, err
	}
	g := &routing{
		options: o, senders: map[string][]notify.Integration{}, templates: templates,
		windows: windowsOf(o.Config), intervener: timeinterval.NewIntervener(intervals(o.Config)),
	}
	for _, rcv := range o.Config.Receivers {
		for _, n := range byName[rcv.Name] {
			i := g.watched(rcv.Name, n)
			g.senders[rcv.Name] = append(g.senders[rcv.Name], notify.NewIntegration(i, &n, n.Name(), n.Index(), rcv.Name))
		}
	}
	return g, nil
}

// build makes the integrations of each receiver, and the templates of their messages.
func build(o Options) (map[string][]notify.Integration, *template.Template, error) {
	tmpl, err := template.FromGlobs(o.Config.Templates)
	if err != nil {
		return nil, nil, fmt.Errorf("templates: %w", err)
	}
	// Messages link to the sidecar's page of alerts instead of an Alertmanager's.
	if err := tmpl.Parse(strings.NewReader(ownTemplates)); err != nil {
		return nil, nil, err
	}
	tmpl.ExternalURL, err = url.Parse(strings.TrimSuffix(o.ExternalURL, "/"))
	if err != nil {
		return nil, nil, err
	}
	// Messages are rare, so a kept connection would rarely be used again.
	options := []promconfig.HTTPClientOption{promconfig.WithKeepAlivesDisabled()}
	if o.Dial != nil {
		options = append(options, promconfig.WithDialContextFunc(o.Dial))
	}
	out := map[string][]notify.Integration{}
	for _, rcv := range o.Config.Receivers {
		out[rcv.Name], err = receiver.BuildReceiverIntegrations(rcv, tmpl, o.EngineLogger, options...)
		if err != nil {
			return nil, nil, fmt.Errorf("receiver %q: %w", rcv.Name, err)
		}
	}
	return out, tmpl, nil
}

const ownTemplates = `{{ define "__alertmanager" }}synthetic{{ end }}
{{ define "__alertmanagerURL" }}{{ .ExternalURL }}/alerts{{ end }}`

// start connects Alertmanager's parts as its own main program does, without a cluster.
func (g *routing) start(r *Receivers) {
	c, logger, recorder := g.options.Config, g.options.EngineLogger, eventrecorder.NopRecorder()
	inhibitor := inhibit.NewInhibitor(r.alerts, c.InhibitRules, logger, recorder)
	metrics := prometheus.NewRegistry() // which nobody reads
	pipeline := notify.NewPipelineBuilder(metrics, featurecontrol.NoopFlags{}, recorder).New(
		g.senders, func() time.Duration { return 0 }, inhibitor, r.silencer, g.intervener, r.groups, r.files, nil)
	dispatcher := dispatch.NewDispatcher(r.alerts, dispatch.NewRoute(c.Route, nil), g.finishing(pipeline), r.groups,
		func(d time.Duration) time.Duration { return max(d, notify.MinTimeout) }, collectGroups, nil, logger, recorder, nil, g.templates)
	var parts sync.WaitGroup
	parts.Go(inhibitor.Run)
	inhibitor.WaitForLoading()
	parts.Go(func() { dispatcher.Run(time.Now()) })
	dispatcher.WaitForLoading()
	g.stop = func() {
		dispatcher.Stop()
		g.sending.Lock() // no message is in progress, and none begins
		inhibitor.Stop()
		parts.Wait()
	}
}

var errStopping = errors.New("the process stops or reads its configuration again")

// finishing lets a message that is being sent when the process stops be sent and logged. Otherwise the
// next process would send it again.
func (g *routing) finishing(stage notify.Stage) notify.Stage {
	return notify.StageFunc(func(ctx context.Context, l *slog.Logger, alerts ...*alert.Alert) (context.Context, []*alert.Alert, error) {
		if !g.sending.TryRLock() {
			return ctx, nil, errStopping
		}
		defer g.sending.RUnlock()
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		defer context.AfterFunc(ctx, func() {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				cancel()
				return
			}
			time.AfterFunc(drainTimeout, cancel)
		})()
		return stage.Exec(own, l, alerts...)
	})
}
