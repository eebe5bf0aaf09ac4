// Package receivers is an Alertmanager inside the pager. Routes, groups, inhibition, silences, time
// intervals, templates and messages are Alertmanager's own code; this package connects its parts and
// saves the log of sent messages and the silences.
package receivers

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/eventrecorder"
	"github.com/prometheus/alertmanager/marker"
	"github.com/prometheus/alertmanager/provider/mem"
	"github.com/prometheus/alertmanager/silence"
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

// Receivers groups alerts and sends them to people. Use New, Start, Put and Stop. A later configuration
// comes with Prepare.
type Receivers struct {
	options  Options
	silences *silence.Silences
	files    *files
	alerts   *mem.Alerts
	silencer *silence.Silencer
	groups   marker.GroupMarker

	// changing serialises Start, Stop and the commits of Prepare.
	changing sync.Mutex
	state    state
	routing  atomic.Pointer[routing] // of the current configuration
}

// state is what Start and Stop change.
type state int

const (
	idle state = iota
	running
	ended
)

const (
	// retention is how long a silence is kept after its end. A sent message is forgotten after two repeat
	// intervals, or after retention if that is earlier. It is Alertmanager's default.
	retention = 120 * time.Hour
	// maxSilences and maxSilenceBytes bound the file of silences.
	maxSilences, maxSilenceBytes = 1000, 16 << 10
	// collectAlerts and collectGroups are how often ended alerts and empty groups are dropped: Alertmanager's defaults.
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
	r := &Receivers{options: o, groups: marker.NewGroupMarker()}
	first, err := newRouting(o)
	if err != nil {
		return nil, err
	}
	r.routing.Store(first)
	r.files, err = readFiles(o)
	if err != nil {
		return nil, err
	}
	r.silences = r.files.silences
	return r, nil
}

// Start begins to group and send the alerts of Put.
func (r *Receivers) Start() {
	r.changing.Lock()
	defer r.changing.Unlock()
	logger, recorder := r.options.EngineLogger, eventrecorder.NopRecorder()
	r.silencer = silence.NewSilencer(r.silences, logger, recorder)
	// NewAlerts returns no error, and nobody reads its metrics.
	r.alerts, _ = mem.NewAlerts(context.Background(), collectAlerts, 0, r.silencer, logger, recorder, prometheus.NewRegistry(), nil)
	r.state = running
	r.routing.Load().start(r)
}

// Prepare checks a configuration that replaces the current one; of o, Config and SecretFiles count.
// commit puts it into force: it waits a little for messages in progress. Silences, the log of sent
// messages and the alerts stay. The groups of alerts are formed afresh. A group with the same matchers of its
// routes, the same labels and receiver as before repeats no message; another one is new to Alertmanager, and is sent.
func (r *Receivers) Prepare(o Options) (commit func(), err error) {
	options := r.options
	options.Config, options.SecretFiles = o.Config, o.SecretFiles
	next, err := newRouting(options)
	return func() {
		r.changing.Lock()
		defer r.changing.Unlock()
		last := r.routing.Load()
		if r.state == running {
			last.stop()
		}
		next.continueCounts(last)
		if r.state == running {
			next.start(r)
		}
		r.routing.Store(next)
	}, err
}

// Stop sends no new message, and waits a little for those in progress.
func (r *Receivers) Stop() {
	r.changing.Lock()
	defer r.changing.Unlock()
	if r.state == running {
		r.routing.Load().stop()
		r.alerts.Close()
	}
	r.state = ended
}

// Put adds or updates alerts. An alert whose end is over has ended. Use it between Start and Stop.
func (r *Receivers) Put(ctx context.Context, alerts ...*alert.Alert) error {
	return r.alerts.Put(ctx, alerts...)
}

// Status returns the state of every integration, in the order of the configuration.
func (r *Receivers) Status() []Status { return r.routing.Load().status() }
