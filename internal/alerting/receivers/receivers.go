// Package receivers is an Alertmanager inside the pager. Routes, groups, inhibition, silences, time
// intervals, templates and messages are Alertmanager's own code; this package connects its parts and
// saves the log of sent messages and the silences.
package receivers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/config/receiver"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/eventrecorder"
	"github.com/prometheus/alertmanager/featurecontrol"
	"github.com/prometheus/alertmanager/inhibit"
	"github.com/prometheus/alertmanager/marker"
	"github.com/prometheus/alertmanager/notify"
	"github.com/prometheus/alertmanager/provider/mem"
	"github.com/prometheus/alertmanager/silence"
	"github.com/prometheus/alertmanager/template"
	"github.com/prometheus/alertmanager/timeinterval"
	"github.com/prometheus/client_golang/prometheus"
	promconfig "github.com/prometheus/common/config"
)

// Options configure Receivers. Config is required.
type Options struct {
	Config *config.Config
	// SecretFiles hold keys and addresses that no text may show.
	SecretFiles []string
	// Dir keeps silences and the log of sent messages across restarts; "" keeps nothing.
	Dir string
	// ExternalURL is the address of the sidecar; messages link to its page /alerts.
	ExternalURL string
	// Dial opens the connections of HTTP receivers; nil means TCP.
	Dial promconfig.DialContextFunc
	// Logger logs failures of receivers, EngineLogger what Alertmanager's packages log; nil logs nothing.
	Logger, EngineLogger *slog.Logger
}

// Receivers groups alerts and sends them to people. Use New, Start, Put and Stop.
type Receivers struct {
	options      Options
	integrations []*integration // in the order of the configuration
	silences     *silence.Silences
	windows      []window
	intervener   *timeinterval.Intervener
	files        *files
	start        func()
	stop         func()

	alerts *mem.Alerts // nil until Start
	// sending is read-locked while a message is sent and logged.
	sending sync.RWMutex
}

const (
	// retention is how long a silence is kept after its end. A sent message is forgotten after two repeat
	// intervals, or after retention if that is earlier. It is Alertmanager's default.
	retention = 120 * time.Hour
	// maxSilences and maxSilenceBytes bound the file of silences.
	maxSilences, maxSilenceBytes = 1000, 16 << 10
	// collectEvery is how often ended alerts and empty groups are dropped: Alertmanager's defaults.
	collectAlerts, collectGroups = 30 * time.Minute, 30 * time.Second
	// drainTimeout bounds a request that is in progress when the process stops.
	drainTimeout = 5 * time.Second
)

// Check reports what keeps a configuration from being used: templates and certificates.
func Check(c *config.Config) error {
	_, _, err := build(Options{Config: c})
	return err
}

// New reads the files of Dir. Nothing runs before Start.
func New(o Options) (*Receivers, error) {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.EngineLogger = cmp.Or(o.EngineLogger, slog.New(slog.DiscardHandler))
	r := &Receivers{options: o, windows: windowsOf(o.Config), intervener: timeinterval.NewIntervener(intervals(o.Config))}
	byName, tmpl, err := build(o)
	if err != nil {
		return nil, err
	}
	senders := map[string][]notify.Integration{}
	for _, rcv := range o.Config.Receivers {
		for _, n := range byName[rcv.Name] {
			i := r.watched(rcv.Name, n)
			senders[rcv.Name] = append(senders[rcv.Name], notify.NewIntegration(i, &n, n.Name(), n.Index(), rcv.Name))
		}
	}
	r.files, err = readFiles(o)
	if err != nil {
		return nil, err
	}
	r.silences = r.files.silences
	r.start = func() { r.run(senders, tmpl) }
	return r, nil
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

// Start begins to group and send the alerts of Put.
func (r *Receivers) Start() { r.start() }

// Stop sends no new message, and waits a little for those in progress.
func (r *Receivers) Stop() {
	if stop := r.stop; stop != nil {
		r.stop = nil
		stop()
	}
}

// run connects Alertmanager's parts as its own main program does, without a cluster.
func (r *Receivers) run(senders map[string][]notify.Integration, tmpl *template.Template) {
	c, logger, recorder := r.options.Config, r.options.EngineLogger, eventrecorder.NopRecorder()
	metrics := prometheus.NewRegistry() // which nobody reads
	silencer, groups := silence.NewSilencer(r.silences, logger, recorder), marker.NewGroupMarker()
	r.alerts, _ = mem.NewAlerts(context.Background(), collectAlerts, 0, silencer, logger, recorder, metrics, nil) // it returns no error
	inhibitor := inhibit.NewInhibitor(r.alerts, c.InhibitRules, logger, recorder)
	pipeline := notify.NewPipelineBuilder(metrics, featurecontrol.NoopFlags{}, recorder).New(
		senders, func() time.Duration { return 0 }, inhibitor, silencer, r.intervener, groups, r.files, nil)
	dispatcher := dispatch.NewDispatcher(r.alerts, dispatch.NewRoute(c.Route, nil), r.finishing(pipeline), groups,
		func(d time.Duration) time.Duration { return max(d, notify.MinTimeout) }, collectGroups, nil, logger, recorder, nil, tmpl)
	var parts sync.WaitGroup
	parts.Go(inhibitor.Run)
	inhibitor.WaitForLoading()
	parts.Go(func() { dispatcher.Run(time.Now()) })
	dispatcher.WaitForLoading()
	r.stop = func() {
		dispatcher.Stop()
		r.sending.Lock() // no message is in progress, and none begins
		inhibitor.Stop()
		r.alerts.Close()
		parts.Wait()
	}
}

var errStopping = errors.New("the process stops")

// finishing lets a message that is being sent when the process stops be sent and logged. Otherwise the
// next process would send it again.
func (r *Receivers) finishing(stage notify.Stage) notify.Stage {
	return notify.StageFunc(func(ctx context.Context, l *slog.Logger, alerts ...*alert.Alert) (context.Context, []*alert.Alert, error) {
		if !r.sending.TryRLock() {
			return ctx, nil, errStopping
		}
		defer r.sending.RUnlock()
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

// Put adds or updates alerts. An alert whose end is over has ended.
func (r *Receivers) Put(ctx context.Context, alerts ...*alert.Alert) error {
	return r.alerts.Put(ctx, alerts...)
}
