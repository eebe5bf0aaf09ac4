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
	"sync"
	"time"

	promconfig "github.com/prometheus/common/config"
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
	// drainTimeout bounds the last deliveries of a stopping pager.
	drainTimeout = 5 * time.Second
	// maxBatch is the number of alerts in a request.
	maxBatch = 256
)

// destination is an Alertmanager with its state.
type destination struct {
	http     *http.Client
	config   promconfig.HTTPClientConfig
	endpoint string
	// waiting has the alerts that are sent next. Newer ones replace them, because all are sent each time.
	waiting chan []*notifier.Alert

	mu     sync.Mutex
	status Receiver
	// failed and accepted tell whether a request failed or succeeded since the last call of settle.
	failed, accepted bool
}

// sender sends to the Alertmanagers.
type sender struct {
	destinations []*destination  // in the order of the configuration
	sent         time.Time       // when notify last sent
	requests     context.Context // ends the requests that still run when the pager stops
	endRequests  context.CancelFunc
}

func (p *Pager) newSender() error {
	s := &p.sender
	s.requests, s.endRequests = context.WithCancel(context.Background())
	for _, a := range p.options.Alertmanagers {
		u, err := url.Parse(a.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
			return fmt.Errorf("alertmanager %q: not an http or https address without user information; write for example http://alertmanager:9093", u.Redacted())
		}
		var options []promconfig.HTTPClientOption
		if p.options.Dial != nil {
			options = append(options, promconfig.WithDialContextFunc(p.options.Dial))
		}
		a.HTTP.EnableHTTP2 = true
		endpoint := url.URL{Scheme: u.Scheme, Host: u.Host, Path: path.Join("/", u.Path, "/api/v2/alerts")}
		d := &destination{
			config: a.HTTP, endpoint: endpoint.String(), waiting: make(chan []*notifier.Alert, 1), status: Receiver{URL: a.URL},
		}
		if d.http, err = target.NewClient(a.HTTP, "alertmanager", options...); err != nil {
			return fmt.Errorf("alertmanager %q: %w", a.URL, err)
		}
		s.destinations = append(s.destinations, d)
	}
	return nil
}

// startSending sends alerts until stop is called, which waits for the last ones.
func (p *Pager) startSending() (stop func()) {
	var sending sync.WaitGroup
	for _, d := range p.sender.destinations {
		sending.Go(func() {
			for alerts := range d.waiting {
				for batch := range slices.Chunk(alerts, maxBatch) {
					d.send(p, batch)
				}
			}
		})
	}
	return func() {
		defer time.AfterFunc(drainTimeout, p.sender.endRequests).Stop()
		for _, d := range p.sender.destinations {
			close(d.waiting)
		}
		sending.Wait()
		p.sender.endRequests()
		for _, d := range p.sender.destinations {
			d.http.CloseIdleConnections()
		}
	}
}

// notify sends all alerts if one has changed, if a reminder is due, or if an Alertmanager did not accept the last
// request.
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
	alerts := p.states.outgoing(p.options.ExternalURL)
	for _, d := range p.sender.destinations {
		select {
		case <-d.waiting:
		default:
		}
		d.waiting <- alerts // only this goroutine adds to it, so there is room
	}
}

// send does a request and records its success.
func (d *destination) send(p *Pager, alerts []*notifier.Alert) {
	ctx, cancel := context.WithTimeout(target.RememberingSent(p.sender.requests), requestTimeout)
	defer cancel()
	failure := ""
	if err := d.post(ctx, alerts); err != nil {
		target.RememberSecrets(d.config)
		failure = redact.Error(err).Error()
	} else {
		for _, a := range alerts {
			p.states.accepted(a.Labels, a.EndsAt)
		}
	}
	d.record(p, failure, len(alerts))
}

func (d *destination) post(ctx context.Context, alerts []*notifier.Alert) error {
	body, err := json.Marshal(alerts)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", target.UserAgent())
	req.Header.Set("Content-Type", "application/json")
	resp, err := d.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("it answers %.100s", resp.Status)
	}
	return nil
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
