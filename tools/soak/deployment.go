//go:build linux

package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"synthetic/internal/simulate"
)

// deployment is a simulated deployment with its own port. It fails on demand and counts its
// requests.
type deployment struct {
	name, addr string
	sim        *simulate.Deployment

	mu    sync.Mutex
	fault fault
	stop  func() // nil if nothing listens any more
	// received counts the accepted chat requests. opening counts those without headers yet.
	received, opening int
}

// newDeployment returns a deployment that listens on a free port of loopback.
func newDeployment(name string, seed uint64) (*deployment, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("a deployment: %w", err)
	}
	d := &deployment{name: name, addr: l.Addr().String(), sim: simulate.New(simulate.Options{
		Seed: seed, FirstToken: simulate.Delay{Median: firstToken, Sigma: 0.2},
		InterToken: simulate.Delay{Median: 4 * time.Millisecond, Sigma: 0.2}, Answer: simulate.Length{Median: 16, Sigma: 0.2},
	})}
	d.stop = simulate.Serve(l, d)
	return d, nil
}

func (d *deployment) url() string { return "http://" + d.addr + "/v1" }

// openFor is the longest time until a request has its headers, unless it hangs.
const openFor = 2 * time.Second

// down closes all connections. It first waits until every counted request has its headers,
// so that the client knows that the request was received.
func (d *deployment) down() {
	d.mu.Lock()
	stop := d.stop
	d.stop, d.fault = nil, killed
	d.mu.Unlock()
	if stop == nil {
		return
	}
	for end := time.Now().Add(openFor); time.Now().Before(end); time.Sleep(time.Millisecond) {
		d.mu.Lock()
		opening := d.opening
		d.mu.Unlock()
		if opening == 0 {
			break
		}
	}
	stop()
}

// set makes the deployment fail from now on. One that is dead stays so.
func (d *deployment) set(f fault) {
	if f == killed {
		d.down()
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = f
}

func (d *deployment) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.received
}

func (d *deployment) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		d.sim.ServeHTTP(w, r)
		return
	}
	f, taken := d.take()
	if !taken { // the deployment went down before the request arrived
		panic(http.ErrAbortHandler)
	}
	opened := sync.OnceFunc(d.opened)
	defer opened()
	w = &opening{w, opened}
	f.misbehave(w, r, d.sim)
}

func (d *deployment) take() (fault, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop == nil {
		return killed, false
	}
	d.received++
	d.opening++
	return d.fault, true
}

func (d *deployment) opened() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opening--
}

// opening records when the response starts.
type opening struct {
	http.ResponseWriter
	opened func()
}

// Unwrap lets http.ResponseController flush.
func (o *opening) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// Flush sends the written data. From then on the client has the headers.
func (o *opening) Flush() {
	_ = http.NewResponseController(o.ResponseWriter).Flush() // the client may have gone
	o.opened()
}
