package receivers

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/notify"

	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
)

// Status describes one integration of a receiver, such as its first Slack channel.
type Status struct {
	Name string
	// Undelivered is the number of alerts of the last message, if that was not accepted.
	Undelivered int
	LastOK      time.Time
	Err         string
	// Sent and Failed count messages and attempts.
	Sent, Failed uint64
}

// integration counts the messages of a notifier, and removes secrets from its errors.
type integration struct {
	notify.Notifier
	logger      *slog.Logger
	secretFiles []string

	mu     sync.Mutex
	status Status
}

// watched registers an integration of the receiver called name.
func (g *routing) watched(name string, n notify.Integration) *integration {
	i := &integration{Notifier: &n, logger: g.options.Logger, secretFiles: g.options.SecretFiles, status: Status{Name: name + "/" + n.String()}}
	g.integrations = append(g.integrations, i)
	return i
}

// Notify implements notify.Notifier.
func (i *integration) Notify(ctx context.Context, alerts ...*alert.Alert) (retry bool, err error) {
	retry, err = i.Notifier.Notify(target.RememberingSent(ctx), alerts...)
	if err != nil {
		rememberSecrets(i.secretFiles)
		err = redact.Error(err)
	}
	i.count(ctx, err, len(alerts))
	return retry, err
}

func (i *integration) count(ctx context.Context, err error, alerts int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	logger := i.logger.With("receiver", i.status.Name)
	failed := i.status.Err != ""
	if err == nil {
		i.status.Sent++
		i.status.LastOK, i.status.Err, i.status.Undelivered = time.Now(), "", 0
		if failed {
			logger.Info("The receiver accepts messages again")
		}
		return
	}
	i.status.Failed++
	i.status.Err, i.status.Undelivered = err.Error(), alerts
	if !failed && ctx.Err() == nil {
		logger.Error("The receiver does not accept a message; trying again until it does", "alerts", alerts, "err", err)
	}
}

// Status returns the present state.
func (i *integration) Status() Status {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.status
}

func (g *routing) status() []Status {
	out := make([]Status, len(g.integrations))
	for n, i := range g.integrations {
		out[n] = i.Status()
	}
	return out
}

// continueCounts takes over the counts of integrations with the same names, but not their failures.
func (g *routing) continueCounts(last *routing) {
	states := map[string]Status{}
	for _, s := range last.status() {
		states[s.Name] = s
	}
	for _, i := range g.integrations {
		if s, ok := states[i.status.Name]; ok {
			i.status.Sent, i.status.Failed, i.status.LastOK = s.Sent, s.Failed, s.LastOK
		}
	}
}

// rememberSecrets removes the contents of files from later texts. Of an address, it removes the path,
// which is the secret, and leaves the host.
func rememberSecrets(files []string) {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		rememberSecret(strings.TrimSpace(string(text)))
	}
}

func rememberSecret(text string) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		redact.Key(text)
		return
	}
	redact.Value(u.RequestURI())
}
