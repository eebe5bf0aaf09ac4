package wire

import (
	"io"
	"net/http"
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
