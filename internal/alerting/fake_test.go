package alerting

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
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

// address is the URL of the inbox of the tests.
const address = "http://alertmanager"

// newPoster returns a function that sends an alert to an Alertmanager.
func newPoster(t *testing.T, a Alertmanager) (post func() error) {
	t.Helper()
	p := mustNew(t, Options{Gatherer: newGauge(t).registry, Alertmanagers: []Alertmanager{a}})
	t.Cleanup(p.sender.destinations[0].http.CloseIdleConnections)
	return func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(a.URL, "/")+"/api/v2/alerts", strings.NewReader("[{}]"))
		if err != nil {
			return err
		}
		resp, err := p.post(t.Context(), nil, req)
		if err == nil {
			resp.Body.Close()
		}
		p.sender.destinations[0].settle(p)
		if failure := p.sender.destinations[0].receiver().Err; failure != "" {
			return errors.New(failure)
		}
		return err
	}
}
