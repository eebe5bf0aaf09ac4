//go:build linux

package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// fault is the kind of a fault of a deployment.
type fault string

const (
	healthy     fault = ""
	killed      fault = "refused"     // nothing listens
	unavailable fault = "unavailable" // 503
	hanging     fault = "HTTP-hang"   // no headers until the client disconnects
	cut         fault = "cut"         // the connection breaks in mid-stream
	slowFirst   fault = "slow first"  // headers at once, the first token late
	babbling    fault = "babbling"    // endless tokens beyond max_tokens
	commenting  fault = "commenting"  // a flood of comments before the answer
	busy        fault = "busy"        // 429
	garbled     fault = "garbled"     // an event that is not JSON
	untrusted   fault = "untrusted"   // a certificate for another name
	lingering   fault = "lingering"   // the first token takes as long as a drain

	// faults of the campaign only
	broken     fault = "HTTP-500"
	erring     fault = "error-event" // after the first token
	reset      fault = "reset"       // the connection is reset in mid-stream
	blackHole  fault = "black-hole"  // the kernel drops the packets that open a connection
	muteTLS    fault = "TLS-hang"    // the kernel opens connections, and nobody answers
	slowThrice fault = "slow-x3"     // the first token takes three times as long
)

// dead reports whether no request can arrive.
func (f fault) dead() bool { return f == killed || f == blackHole || f == muteTLS }

// outages are the faults that make every turn fail. They must cause a page.
func outages() []fault { return []fault{killed, unavailable, hanging, cut, garbled} }

// nuisances are the other faults of deployments without TLS.
func nuisances() []fault {
	return []fault{slowFirst, babbling, commenting, busy, cut, unavailable, garbled}
}

const (
	firstTokenLate, drainTakes = 2 * time.Second, 3 * time.Second
	// A babbler is limited by time and rate, a flood by size.
	babbleFor, babbleEvery = 15 * time.Second, 5 * time.Millisecond
	floodBytes             = 256 << 10
	chunk                  = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"simulated-chat","choices":[{"index":0,"delta":{"content":" more"},"finish_reason":null}]}` + "\n\n"
)

// misbehave answers a chat request with the fault. next answers correctly.
func (f fault) misbehave(w http.ResponseWriter, r *http.Request, next http.Handler) {
	switch f {
	case unavailable:
		refuse(w, r, "no worker", http.StatusServiceUnavailable)
	case broken:
		refuse(w, r, "internal error", http.StatusInternalServerError)
	case erring:
		stream(w, chunk+"data: {\"error\":{\"message\":\"the worker is lost\",\"code\":500}}\n\n")
	case reset:
		stream(w, chunk+chunk)
		hangUp(w)
	case slowThrice:
		if pause(r, 2*campaignFirstToken) {
			next.ServeHTTP(w, r)
		}
	case busy:
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"error":{"message":"too many requests"}}`, http.StatusTooManyRequests)
	case hanging:
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	case cut:
		stream(w, chunk+chunk)
		panic(http.ErrAbortHandler)
	case garbled:
		stream(w, chunk+"data: {\"choices\":[{oops\n\n")
	case slowFirst, lingering:
		stream(w, ": wait\n\n")
		late := firstTokenLate
		if f == lingering {
			late = drainTakes
		}
		if pause(r, late) {
			next.ServeHTTP(w, r)
		}
	case commenting:
		stream(w, strings.Repeat(": "+strings.Repeat("x", 1021)+"\n", floodBytes>>10))
		next.ServeHTTP(w, r)
	case babbling:
		_, _ = io.Copy(io.Discard, r.Body)
		for end := time.Now().Add(babbleFor); time.Now().Before(end) && pause(r, babbleEvery); {
			stream(w, chunk)
		}
	default:
		next.ServeHTTP(w, r)
	}
}

// refuse answers with a status and a message that repeats the key, which the program must not show.
func refuse(w http.ResponseWriter, r *http.Request, why string, status int) {
	http.Error(w, fmt.Sprintf(`{"error":{"message":"%s for %s"}}`, why, r.Header.Get("Authorization")), status)
}

// stream sends a part of an event stream.
func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.Copy(w, bytes.NewReader([]byte(text))) // the client may have gone
	_ = http.NewResponseController(w).Flush()
}

// hangUp resets the connection.
func hangUp(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err) // HTTP/1.1 connections can always be hijacked
	}
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	_ = c.(*net.TCPConn).SetLinger(0) // the client may have gone
	_ = c.Close()
}

// pause waits for d. It returns false if the client disconnects.
func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

// spell is a period with a fault of one deployment. Times are since the start of the run.
type spell struct {
	Target   string        `json:"target"`
	Fault    fault         `json:"fault"`
	From, To time.Duration `json:"-"`
	FromSec  float64       `json:"from_seconds"`
	ToSec    float64       `json:"to_seconds"`
	// Outage is true if the fault is long and severe enough that it must cause a page.
	Outage bool `json:"outage"`
}

func (s spell) String() string {
	return fmt.Sprintf("%s %s from %v to %v", s.Target, s.Fault, s.From.Round(time.Second), s.To.Round(time.Second))
}
