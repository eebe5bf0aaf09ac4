package httplimit

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestGate checks that one address gets half of the limit, that other addresses get the rest, and that
// finished requests do not count.
func TestGate(t *testing.T) {
	entered, release := make(chan bool), make(chan bool)
	h := NewGate("scrapes", 4).Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- true
		<-release
	}))
	ask := func(from string) (codes chan int) {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.RemoteAddr = from
		codes = make(chan int, 1)
		go func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			codes <- w.Code
		}()
		return codes
	}
	enters := func(from string) chan int {
		codes := ask(from)
		<-entered
		return codes
	}
	refused := func(from string) {
		t.Helper()
		if code := <-ask(from); code != http.StatusServiceUnavailable {
			t.Errorf("a request of %s above the limit: status %d", from, code)
		}
	}
	requests := []chan int{enters("[2001:db8::1]:1"), enters("[2001:db8::1]:2")}
	refused("[2001:db8::1]:3")
	requests = append(requests, enters("192.0.2.1:1"), enters("@"))
	refused("192.0.2.7:1")
	for range requests {
		release <- true
	}
	for _, codes := range requests {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("status %d", code)
		}
	}
	last := enters("[2001:db8::1]:4")
	release <- true
	<-last
}
