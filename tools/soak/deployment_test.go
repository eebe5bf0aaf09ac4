//go:build linux

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDeployment: each fault looks as intended to its client, and the deployment counts the
// requests that it answered.
func TestDeployment(t *testing.T) {
	authority := filepath.Join(t.TempDir(), "authority.pem")
	certificate, err := newCertificate(authority)
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDeployment("kept-01", 1, certificate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.down)
	client := trusting(t, authority)
	received := 0
	for _, tt := range []struct {
		fault    fault
		want     string // text in the answer or in the error
		received bool
	}{
		{healthy, "data: [DONE]", true}, {hanging, "deadline exceeded", true},
		{broken, "internal error", true}, {erring, "the worker is lost", true}, {reset, "reset by peer", true}, {slowThrice, "data: [DONE]", true},
		{killed, "refused", false}, {blackHole, "deadline exceeded", false}, {muteTLS, "deadline exceeded", false},
	} {
		if err := d.set(tt.fault); err != nil {
			t.Fatal(err)
		}
		patience := time.Minute
		if slices.Contains([]fault{hanging, blackHole, muteTLS}, tt.fault) { // they would wait for ever
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

func trusting(t *testing.T, path string) *http.Client {
	t.Helper()
	pem, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
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
