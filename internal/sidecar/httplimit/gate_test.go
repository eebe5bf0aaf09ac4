package httplimit

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestGate lets a crowd of one address through up to half, and another address
// to the rest; what has left makes room.
func TestGate(t *testing.T) {
	in, out := make(chan bool), make(chan bool)
	h := NewGate("scrapes", 4).Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		in <- true
		<-out
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
		<-in
		return codes
	}
	refused := func(from string) {
		t.Helper()
		if code := <-ask(from); code != http.StatusServiceUnavailable {
			t.Errorf("a request too many of %s: status %d", from, code)
		}
	}
	under := []chan int{enters("[2001:db8::1]:1"), enters("[2001:db8::1]:2")}
	refused("[2001:db8::1]:3")
	under = append(under, enters("192.0.2.1:1"), enters("@"))
	refused("192.0.2.7:1")
	for range under {
		out <- true
	}
	for _, codes := range under {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("status %d", code)
		}
	}
	last := enters("[2001:db8::1]:4")
	out <- true
	<-last
}
