package alerting

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// inbox is an Alertmanager without a network, so that it works in virtual time.
type inbox struct {
	mu  sync.Mutex
	got []posted
	// answer is the status of a request; 0 hangs until the client gives up.
	answer   func([]posted) int
	requests int
	// wall is the wall clock of the Alertmanager and the pager; nil means time.Now.
	wall func() time.Time
}

func (b *inbox) now() time.Time {
	if b.wall == nil {
		return time.Now()
	}
	return b.wall()
}

func (b *inbox) RoundTrip(r *http.Request) (*http.Response, error) {
	var alerts []posted
	if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.requests++
	code := http.StatusOK
	if b.answer != nil {
		code = b.answer(alerts)
	}
	if code == http.StatusOK {
		for _, a := range alerts {
			a.at = b.now()
			b.got = append(b.got, a)
		}
	}
	b.mu.Unlock()
	if code == 0 {
		<-r.Context().Done()
		return nil, errors.New("no answer: " + r.Context().Err().Error())
	}
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Body: io.NopCloser(bytes.NewReader(nil)), Request: r}, nil
}

func (b *inbox) all() []posted {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]posted(nil), b.got...)
}

func (b *inbox) answers(f func([]posted) int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = f
}

// always answers every request with one status.
func always(code int) func([]posted) int { return func([]posted) int { return code } }

// address is the URL of the inbox of newDesk.
const address = "http://alertmanager"

// newDesk returns the states with a send loop to an inbox.
func newDesk(c *clock, box *inbox, onChange func(Transition)) (*alertStates, *sendLoop) {
	to := &client{url: address, endpoint: address + apiPath, timeout: 10 * time.Second, http: &http.Client{Transport: box}}
	states := newAlertStates(c, labels.EmptyLabels(), []*client{to}, onChange)
	return states, &sendLoop{states: states, changed: states.watch(), logger: slog.New(slog.DiscardHandler), client: to}
}

// ruleAlert is an alert of the rule manager.
type ruleAlert struct {
	name      string
	fired     time.Time
	resolved  time.Time // zero while it fires
	keptSince time.Time
}

const evaluateEvery = 15 * time.Second

func (a ruleAlert) at(now time.Time) *rules.Alert {
	return &rules.Alert{
		State: rules.StateFiring, Labels: labels.FromStrings(model.AlertNameLabel, a.name),
		Annotations: labels.FromStrings("summary", a.name), ActiveAt: a.fired, FiredAt: a.fired,
		ResolvedAt: a.resolved, KeepFiringSince: a.keptSince, ValidUntil: now.Add(4 * evaluateEvery),
	}
}
