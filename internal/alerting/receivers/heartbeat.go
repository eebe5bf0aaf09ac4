package receivers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/prometheus/alertmanager/alert"
	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe/target"
)

// HeartbeatOptions describe a service that pages when requests stop to come.
type HeartbeatOptions struct {
	// URL, or a file with it that is read for each request.
	URL, URLFile string
	Method       string // "" means GET
	HTTP         promconfig.HTTPClientConfig
}

// Heartbeat sends a request every minute.
type Heartbeat struct{ integration }

const (
	heartbeatInterval = time.Minute
	heartbeatTimeout  = 10 * time.Second
)

// NewHeartbeat checks the HTTP settings.
func NewHeartbeat(o HeartbeatOptions, dial promconfig.DialContextFunc, logger *slog.Logger) (*Heartbeat, error) {
	options := []promconfig.HTTPClientOption{promconfig.WithKeepAlivesDisabled()}
	if dial != nil {
		options = append(options, promconfig.WithDialContextFunc(dial))
	}
	client, err := promconfig.NewClientFromConfig(o.HTTP, "heartbeat", options...)
	if err != nil {
		return nil, fmt.Errorf("heartbeat: %w", err)
	}
	return &Heartbeat{integration{Notifier: beat{o, client}, logger: logger, status: Status{Name: "heartbeat"}}}, nil
}

// Run sends until ctx is done, but only while alive returns true.
func (h *Heartbeat) Run(ctx context.Context, alive func() bool) {
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		if alive() {
			_, _ = h.Notify(ctx) // which counts and logs the error
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// beat is a notifier whose messages have no content.
type beat struct {
	HeartbeatOptions
	client *http.Client
}

// Notify implements notify.Notifier. The error does not contain the address.
func (b beat) Notify(ctx context.Context, _ ...*alert.Alert) (retry bool, err error) {
	address := b.URL
	if b.URLFile != "" {
		text, err := os.ReadFile(b.URLFile)
		if err != nil {
			return true, fmt.Errorf("reading alerting.heartbeat.url_file: %w", err)
		}
		address = strings.TrimSpace(string(text))
	}
	rememberSecret(address)
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, cmp.Or(b.Method, http.MethodGet), address, http.NoBody)
	if err != nil {
		return true, errors.New("the heartbeat's address is not valid (not shown)")
	}
	resp, err := b.client.Do(req)
	if err != nil {
		target.RememberSecrets(b.HTTP)
		if full, ok := errors.AsType[*url.Error](err); ok {
			err = full.Err
		}
		return true, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxRequest))
	if resp.StatusCode/100 != 2 {
		return true, fmt.Errorf("it answers %.100s", resp.Status)
	}
	return false, nil
}
