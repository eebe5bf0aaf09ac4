package wire

import (
	"net/http"
	"sync"
)

// onDemand is a transport that is made when it is first needed. Where that fails,
// perhaps because a certificate is half-written, the next request tries anew.
type onDemand struct {
	make func() (roundTripper, error)

	mu   sync.Mutex
	made roundTripper
}

func (l *onDemand) RoundTrip(r *http.Request) (*http.Response, error) {
	rt, err := l.transport()
	if err != nil {
		closeBody(r)
		return nil, err
	}
	return rt.RoundTrip(r)
}

func (l *onDemand) transport() (_ roundTripper, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		l.made, err = l.make()
	}
	return l.made, err
}

func (l *onDemand) CloseIdleConnections() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made != nil {
		l.made.CloseIdleConnections()
	}
}

// closeBody closes the body of a request that is not sent, as a
// http.RoundTripper must.
func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}
