//go:build linux

package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestDeployment: each fault looks as intended to its client, and the deployment counts the
// requests that it answered.
func TestDeployment(t *testing.T) {
	d, err := newDeployment("kept-01", 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.down)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	received := 0
	for _, tt := range []struct {
		fault    fault
		want     string // text in the answer or in the error
		received bool
	}{
		{healthy, "data: [DONE]", true}, {hanging, "deadline exceeded", true},
		{broken, "internal error", true}, {erring, "the worker is lost", true}, {reset, "reset by peer", true}, {slowThrice, "data: [DONE]", true},
		{killed, "refused", false},
	} {
		d.set(tt.fault)
		patience := time.Minute
		if tt.fault == hanging { // it would wait for ever
			patience = 300 * time.Millisecond
		}
		if got := ask(t, client, d.url(), tt.want, patience); !strings.Contains(got, tt.want) {
			t.Errorf("%q answers %.200q, want %q", tt.fault, got, tt.want)
		}
		if tt.received {
			received++
		}
		if got := d.count(); got != received {
			t.Fatalf("%q: %d requests received, want %d", tt.fault, got, received)
		}
	}
}

// ask sends a chat request and returns the response up to the text until. Without that text
// it returns the whole response and the error at its end.
func ask(t *testing.T, client *http.Client, url string, until string, patience time.Duration) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	body := `{"model":"simulated-chat","stream":true,"max_tokens":4,"messages":[{"role":"user","content":"hi"}]}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	var text strings.Builder
	for buf := make([]byte, 4096); !strings.Contains(text.String(), until); {
		n, err := resp.Body.Read(buf)
		text.Write(buf[:n])
		if err != nil {
			return text.String() + err.Error()
		}
	}
	return text.String()
}
