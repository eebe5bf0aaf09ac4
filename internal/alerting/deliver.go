package alerting

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	promconfig "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/notifier"

	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
)

// Alertmanager describes how to reach an Alertmanager. Each of several receives every alert.
type Alertmanager struct {
	// URL of its web page, such as "http://alertmanager:9093".
	URL string
	// HTTP has TLS and authentication. Files are read at each use.
	HTTP promconfig.HTTPClientConfig
}

const (
	requestTimeout = 10 * time.Second
	// startTimeout bounds the start of the notifier.
	startTimeout = 5 * time.Second
	// drainTimeout bounds the last deliveries of a stopping pager.
	drainTimeout = 5 * time.Second
	// queueCapacity is the number of alerts that wait for one Alertmanager. Dropped ones are sent again.
	queueCapacity = 10_000
)

// destination is an Alertmanager with its state.
type destination struct {
	http   *http.Client
	config promconfig.HTTPClientConfig
	// endpoint is the address of its requests.
	endpoint string

	mu     sync.Mutex
	status Receiver
	// failed and accepted tell whether a request failed or succeeded since the last call of settle.
	failed, accepted bool
}

// sender has Prometheus' notifier and the Alertmanagers.
type sender struct {
	notifier     *notifier.Manager
	targets      map[string][]*targetgroup.Group
	destinations []*destination  // in the order of the configuration
	sent         time.Time       // when notify last sent
	requests     context.Context // ends the requests that still run when the pager stops
	endRequests  context.CancelFunc
}

// newNotifier creates Prometheus' notifier, which sends to all Alertmanagers.
func (p *Pager) newNotifier() error {
	o := &notifier.Options{QueueCapacity: queueCapacity, DrainOnShutdown: true, Do: p.post}
	s := &p.sender
	s.notifier = notifier.NewManager(o, model.UTF8Validation, p.options.EngineLogger)
	s.targets = map[string][]*targetgroup.Group{}
	s.requests, s.endRequests = context.WithCancel(context.Background())
	conf := &config.Config{}
	conf.GlobalConfig.MetricNameValidationScheme = model.UTF8Validation
	for i, a := range p.options.Alertmanagers {
		u, err := url.Parse(a.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
			return fmt.Errorf("alertmanager %q: not an http or https address without user information; write for example http://alertmanager:9093", u.Redacted())
		}
		var options []promconfig.HTTPClientOption
		if p.options.Dial != nil {
			options = append(options, promconfig.WithDialContextFunc(p.options.Dial))
		}
		a.HTTP.EnableHTTP2 = true
		d := &destination{config: a.HTTP, status: Receiver{URL: a.URL}}
		if d.http, err = target.NewClient(a.HTTP, "alertmanager", options...); err != nil {
			return fmt.Errorf("alertmanager %q: %w", a.URL, err)
		}
		prefix := strings.TrimSuffix(u.Path, "/")
		conf.AlertingConfig.AlertmanagerConfigs = append(conf.AlertingConfig.AlertmanagerConfigs, &config.AlertmanagerConfig{
			Scheme: u.Scheme, PathPrefix: prefix, Timeout: model.Duration(requestTimeout), APIVersion: config.AlertmanagerAPIVersionV2,
			HTTPClientConfig: promconfig.DefaultHTTPClientConfig, // the destination has the client
		})
		s.targets[fmt.Sprintf("config-%d", i)] = []*targetgroup.Group{{Targets: []model.LabelSet{{model.AddressLabel: model.LabelValue(u.Host)}}}}
		s.destinations = append(s.destinations, d)
		endpoint := url.URL{Scheme: u.Scheme, Host: u.Host, Path: path.Join("/", prefix, "/api/v2/alerts")}
		// The request changes the address, for example an empty port.
		req, err := http.NewRequestWithContext(s.requests, http.MethodPost, endpoint.String(), nil)
		if err != nil {
			return fmt.Errorf("alertmanager %q: %w", a.URL, err)
		}
		d.endpoint = req.URL.String()
	}
	return s.notifier.ApplyConfig(conf)
}

// runNotifier sends alerts until stop is called, which waits for the last ones. It waits until the notifier knows all
// Alertmanagers, or ctx is done.
func (p *Pager) runNotifier(ctx context.Context) (stop func(), err error) {
	targets, done := make(chan map[string][]*targetgroup.Group, 1), make(chan struct{})
	targets <- p.sender.targets
	go func() {
		defer close(done)
		p.sender.notifier.Run(targets)
	}()
	stop = func() {
		defer time.AfterFunc(drainTimeout, p.sender.endRequests).Stop()
		p.sender.notifier.Stop()
		<-done
		p.sender.endRequests()
		for _, d := range p.sender.destinations {
			d.http.CloseIdleConnections()
		}
	}
	for began := time.Now(); ctx.Err() == nil && len(p.sender.notifier.Alertmanagers()) < len(p.sender.destinations); time.Sleep(time.Millisecond) {
		if time.Since(began) > startTimeout {
			err := fmt.Errorf("after %v the notifier knows %d of %d Alertmanagers; check their addresses, and restart the process",
				startTimeout, len(p.sender.notifier.Alertmanagers()), len(p.sender.destinations))
			stop()
			return nil, err
		}
	}
	return stop, nil
}

// notify sends all alerts if one has changed, if a reminder is due, or if an Alertmanager did not accept the last
// request: the notifier drops those alerts.
func (p *Pager) notify() {
	changed := p.states.changed.Swap(false)
	due := changed || time.Since(p.sender.sent) >= resend
	for _, d := range p.sender.destinations {
		due = d.settle(p) || due
	}
	if !due {
		return
	}
	if changed && p.options.Dir != "" {
		p.saveNow()
	}
	p.sender.sent = time.Now()
	if alerts := p.states.outgoing(p.options.ExternalURL); len(alerts) > 0 {
		p.sender.notifier.Send(alerts...)
	}
}

// post does a request of the notifier and records its success. The error contains no secrets.
func (p *Pager) post(ctx context.Context, _ *http.Client, req *http.Request) (*http.Response, error) {
	i := slices.IndexFunc(p.sender.destinations, func(d *destination) bool { return d.endpoint == req.URL.String() })
	if i < 0 {
		return nil, fmt.Errorf("no Alertmanager has the address %q", req.URL.Redacted())
	}
	d := p.sender.destinations[i]
	body, err := io.ReadAll(req.Body)
	var alerts []notifier.Alert
	if err == nil {
		err = json.Unmarshal(body, &alerts)
	}
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	ctx, cancel := context.WithCancel(target.RememberingSent(ctx))
	defer context.AfterFunc(p.sender.requests, cancel)()
	resp, err := d.http.Do(req.WithContext(ctx))
	failure := ""
	switch {
	case err != nil:
		target.RememberSecrets(d.config)
		err = redact.Error(err)
		failure = err.Error()
	case resp.StatusCode/100 != 2:
		failure = fmt.Sprintf("it answers %.100s", resp.Status)
	default:
		for _, a := range alerts {
			p.states.accepted(a.Labels, a.EndsAt)
		}
	}
	d.record(p, failure, len(alerts))
	return resp, err
}

// record keeps the result of a request, and logs when requests begin to fail. A success does not clear a failure: it
// may be that of another batch of the same alerts.
func (d *destination) record(p *Pager, failure string, alerts int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if failure == "" {
		d.accepted, d.status.LastOK = true, p.clock.wall()
		return
	}
	if d.status.Err == "" {
		p.options.Logger.Error("The Alertmanager does not accept alerts; trying again until it does", "alertmanager", d.status.URL, "alerts", alerts, "err", failure)
	}
	d.failed, d.status.Err, d.status.Undelivered = true, failure, alerts
}

// settle clears a failure if all requests since the last call succeeded, and reports whether one is left.
func (d *destination) settle(p *Pager) (failing bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.status.Err != "" && d.accepted && !d.failed {
		d.status.Err, d.status.Undelivered = "", 0
		p.options.Logger.Info("The Alertmanager accepts alerts again", "alertmanager", d.status.URL)
	}
	d.accepted, d.failed = false, false
	return d.status.Err != ""
}

func (d *destination) receiver() Receiver {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.status
}
