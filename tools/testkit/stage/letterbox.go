package stage

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Letterbox is an Alertmanager that remembers what it was told, and when.
type Letterbox struct {
	mu   sync.Mutex
	dead bool // what comes now is of a process that was killed
	got  []Told
	// Told gets what comes, if it has room; nil in virtual time.
	Told chan Told
}

// Told is an alert as it was told.
type Told struct {
	Labels           map[string]string
	StartsAt, EndsAt time.Time
	At               time.Time // when it was told
}

// Firing reports whether the alert had not ended when it was told.
func (a Told) Firing() bool { return a.EndsAt.After(a.At) }

func (b *Letterbox) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var alerts []Told
	if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
		panic(err) // the server logs it, and the test finds nothing told
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range alerts {
		a.At = time.Now()
		if b.dead {
			continue
		}
		b.got = append(b.got, a)
		select {
		case b.Told <- a:
		default:
		}
	}
}

// Mark says whether what comes now is of a process that was killed.
func (b *Letterbox) Mark(dead bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead = dead
}

// All lists what was told.
func (b *Letterbox) All() []Told {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got)
}

// Of lists what was told of the alerts of a name, by what tells them apart.
func (b *Letterbox) Of(name string) map[string][]Told {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string][]Told{}
	for _, a := range b.got {
		if a.Labels["alertname"] == name {
			which := strings.TrimSpace(a.Labels["turn"] + " " + a.Labels["signal"] + a.Labels["slo"])
			out[which] = append(out[which], a)
		}
	}
	return out
}

// awaited is how long a page may take: a prober that a busy machine made late for
// a moment pages about nobody for three minutes.
const awaited = 5 * time.Minute

// Await waits for something that was told; what is returned is zero if nothing
// came.
func (b *Letterbox) Await(t *testing.T, ok func(Told) bool) Told {
	t.Helper()
	for timeout := time.After(awaited); ; {
		select {
		case a := <-b.Told:
			if ok(a) {
				return a
			}
		case <-timeout:
			t.Errorf("the Alertmanager was not told within %v", awaited)
			return Told{}
		}
	}
}

// Drain forgets what nobody awaited.
func (b *Letterbox) Drain() {
	for len(b.Told) > 0 {
		<-b.Told
	}
}
