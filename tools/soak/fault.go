//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// fault is what is wrong with a deployment.
type fault string

const (
	healthy     fault = ""
	killed      fault = "killed"      // nothing listens
	unavailable fault = "unavailable" // 503
	hanging     fault = "hanging"     // no headers, until the client goes
	cut         fault = "cut"         // the connection breaks in mid-stream
	slowFirst   fault = "slow first"  // headers at once, the first token late
	babbling    fault = "babbling"    // tokens beyond max_tokens, without end
	commenting  fault = "commenting"  // a flood of comments before the answer
	busy        fault = "busy"        // 429
	garbled     fault = "garbled"     // an event that is no JSON
	untrusted   fault = "untrusted"   // a certificate for another name
	lingering   fault = "lingering"   // the first token comes as late as a drain takes
)

// outages are the faults that leave no turn whole: they must page.
func outages() []fault { return []fault{killed, unavailable, hanging, cut, garbled} }

// nuisances are the others, for plain deployments.
func nuisances() []fault {
	return []fault{slowFirst, babbling, commenting, busy, cut, unavailable, garbled}
}

const (
	firstTokenLate, drainTakes = 2 * time.Second, 3 * time.Second
	// A babbler is bounded by time and rate, a flood by size.
	babbleFor, babbleEvery = 15 * time.Second, 5 * time.Millisecond
	floodBytes             = 256 << 10
	chunk                  = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"simulated-chat","choices":[{"index":0,"delta":{"content":" more"},"finish_reason":null}]}` + "\n\n"
)

// misbehave answers a chat request as the fault wants; next answers well.
func (f fault) misbehave(w http.ResponseWriter, r *http.Request, next http.Handler) {
	switch f {
	case unavailable:
		http.Error(w, `{"error":{"message":"no worker"}}`, http.StatusServiceUnavailable)
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

// stream sends a part of an event stream.
func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.Copy(w, bytes.NewReader([]byte(text))) // to a client that may have gone
	_ = http.NewResponseController(w).Flush()
}

// pause waits, unless the client goes.
func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

// spell is a fault of one deployment from one moment to another, since the start.
type spell struct {
	Target   string        `json:"target"`
	Fault    fault         `json:"fault"`
	From, To time.Duration `json:"-"`
	FromSec  float64       `json:"from_seconds"`
	ToSec    float64       `json:"to_seconds"`
	// Outage says that it is long and hard enough that it must page.
	Outage bool `json:"outage"`
}

func (s spell) String() string {
	return fmt.Sprintf("%s %s from %v to %v", s.Target, s.Fault, s.From.Round(time.Second), s.To.Round(time.Second))
}
