package alerting

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
)

// Alertmanager describes how to reach an Alertmanager. Each of several receives every alert.
type Alertmanager struct {
	// URL of its web page, such as "http://alertmanager:9093".
	URL string
	// HTTP has TLS and authentication. The zero value uses the system's authorities and no
	// credentials. Files are read at each use.
	HTTP promconfig.HTTPClientConfig
}

// apiPath is appended to an Alertmanager's URL.
const apiPath = "/api/v2/alerts"

const (
	// requestTimeout bounds one request.
	requestTimeout = 10 * time.Second
	// maxAnswer bounds the text of an answer in the log and on the alerts page.
	maxAnswer = 200
)

// client sends alerts to one Alertmanager.
type client struct {
	url, endpoint string
	timeout       time.Duration
	http          *http.Client
	generator     string // the address that alerts link to
	config        promconfig.HTTPClientConfig
}

// dialer opens connections; nil means TCP.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

func newClient(a Alertmanager, generator string, dial dialer) (*client, error) {
	u, err := url.Parse(a.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("alertmanager %q: not an http or https address without user information; write for example http://alertmanager:9093", u.Redacted())
	}
	var options []promconfig.HTTPClientOption
	if dial != nil {
		options = append(options, promconfig.WithDialContextFunc(promconfig.DialContextFunc(dial)))
	}
	a.HTTP.EnableHTTP2 = true
	h, err := promconfig.NewClientFromConfig(a.HTTP, "alertmanager", options...)
	if err != nil {
		return nil, fmt.Errorf("alertmanager %q: %w", a.URL, err)
	}
	return &client{
		url: a.URL, endpoint: strings.TrimSuffix(a.URL, "/") + apiPath,
		timeout: requestTimeout, http: h, generator: generator, config: a.HTTP,
	}, nil
}

// errRejected reports a request that an Alertmanager understood and refused. A retry does not
// help.
var errRejected = errors.New("rejected")

// send posts alerts. The error is for the log and the alerts page, and contains no secrets.
func (c *client) send(ctx context.Context, messages []message) error {
	err := c.post(ctx, messages)
	if err != nil {
		target.RememberSecrets(c.config)
	}
	return redact.Error(err)
}

func (c *client) post(ctx context.Context, messages []message) error {
	for i := range messages {
		messages[i].GeneratorURL = c.generator
	}
	body, err := json.Marshal(messages)
	if err != nil {
		return fmt.Errorf("encoding alerts: %w", err)
	}
	ctx, cancel := context.WithTimeout(target.RememberingSent(ctx), c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	start, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	text := fmt.Sprintf("%.100s: %s", resp.Status, bytes.TrimSpace(start))
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // so that the connection can be reused
	switch {
	case resp.StatusCode/100 == 2:
		return nil
	case resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %s", errRejected, text)
	}
	return fmt.Errorf("it answers %s", text)
}

func (c *client) close() {
	c.http.CloseIdleConnections()
}
