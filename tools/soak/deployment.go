//go:build linux

package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
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
	name, addr  string
	sim         *simulate.Deployment
	certificate *tls.Certificate // nil means no TLS

	mu     sync.Mutex
	fault  fault
	server *http.Server
	ended  chan struct{}
	silent io.Closer // the socket that takes the place of the server's; nil for none
	// received counts the accepted chat requests. opening counts those without headers yet.
	received, opening int
}

// newDeployment returns a deployment that listens on a free port of loopback.
func newDeployment(name string, seed uint64, certificate *tls.Certificate) (*deployment, error) {
	d := &deployment{name: name, certificate: certificate, addr: "127.0.0.1:0", sim: simulate.New(simulate.Options{
		Seed: seed, FirstToken: simulate.Delay{Median: firstToken, Sigma: 0.2},
		InterToken: simulate.Delay{Median: 4 * time.Millisecond, Sigma: 0.2}, Answer: simulate.Length{Median: 16, Sigma: 0.2},
	})}
	return d, d.up()
}

// entry returns the target of a configuration. authority is a path.
func (d *deployment) entry(name, authority string) string {
	tls := ""
	if d.certificate != nil {
		tls = fmt.Sprintf(", http_client: {tls_config: {ca_file: %q}}", authority)
	}
	return fmt.Sprintf("  - {name: %s, base_url: %q, model: simulated-chat%s}\n", name, d.url(), tls)
}

func (d *deployment) url() string {
	scheme := "http"
	if d.certificate != nil {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s/v1", scheme, d.addr)
}

// up starts to listen.
func (d *deployment) up() error {
	l, err := net.Listen("tcp", d.addr)
	if err != nil {
		return fmt.Errorf("a deployment on %s: %w", d.addr, err)
	}
	d.addr = l.Addr().String()
	if d.certificate != nil {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*d.certificate}})
	}
	server := &http.Server{Handler: d, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l) // Close ends it
	}()
	d.server, d.ended = server, ended
	return nil
}

// openFor is the longest time until a request has its headers, unless it hangs.
const openFor = 2 * time.Second

// down closes all connections. It first waits until every counted request has its headers,
// so that the client knows that the request was received.
func (d *deployment) down() {
	d.mu.Lock()
	server, ended, silent := d.server, d.ended, d.silent
	d.server, d.silent, d.fault = nil, nil, killed
	d.mu.Unlock()
	if silent != nil {
		_ = silent.Close()
	}
	if server == nil {
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
	_ = server.Close()
	<-ended
}

// set makes the deployment fail from now on. One that is dead stays so.
func (d *deployment) set(f fault) error {
	if f.dead() {
		d.down()
		return d.pretend(f)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = f
	return nil
}

// pretend puts a socket without a program in the place of the server's, if the fault has one.
func (d *deployment) pretend(f fault) (err error) {
	var silent io.Closer
	switch f {
	case muteTLS:
		silent, err = net.Listen("tcp", d.addr)
	case blackHole:
		silent, err = listenFull(d.addr)
	}
	if err != nil {
		return fmt.Errorf("a %s on %s: %w", f, d.addr, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault, d.silent = f, silent
	return nil
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
	if d.server == nil {
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
