package wire

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// get sends one request through c and returns its trace, response and body.
func get(t *testing.T, c *Client, url string) (*Trace, *http.Response, string) {
	t.Helper()
	trace := &Trace{HeaderDeadline: time.Now().Add(10 * time.Second)}
	req, err := http.NewRequestWithContext(WithTrace(t.Context(), trace), "POST", url, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.RoundTrip(req)
	if err != nil {
		t.Fatalf("RoundTrip: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading the body: %v", err)
	}
	return trace, resp, string(body)
}

func TestRoundTrip(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		io.WriteString(w, "you said ")
		w.(http.Flusher).Flush()
		w.Write(b)
	}))
	defer server.Close()
	c := New(Options{})
	defer c.CloseIdleConnections()
	for i := range 3 {
		trace, resp, body := get(t, c, server.URL)
		if resp.StatusCode != 200 || body != "you said hello" {
			t.Errorf("request %d: got %d %q", i, resp.StatusCode, body)
		}
		if trace.Reused != (i > 0) {
			t.Errorf("request %d: reused is %v", i, trace.Reused)
		}
		if trace.Headers.Before(trace.HeaderDeadline.Add(-11 * time.Second)) {
			t.Errorf("request %d: trace %+v", i, trace)
		}
	}
}
