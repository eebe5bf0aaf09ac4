package wire

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"
)

// trusting returns Options that trust the server's certificate.
func trusting(s *httptest.Server) Options {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return Options{HTTP: promconfig.HTTPClientConfig{TLSConfig: promconfig.TLSConfig{CA: string(ca)}}}
}

func TestTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	client := newClient(t, trusting(server))
	for i := range 3 {
		trace, resp, body := get(t, client, server.URL)
		if resp.StatusCode != 200 || body != "HTTP/1.1" {
			t.Errorf("request %d: %d over %q", i, resp.StatusCode, body)
		}
		if trace.Reused != (i > 0) || (trace.TLS > 0) == trace.Reused {
			t.Errorf("request %d: %+v", i, trace)
		}
		if resp.Body.(*Body).Arrival().At.IsZero() {
			t.Errorf("request %d: no arrival", i)
		}
	}
}

func TestTLSFailures(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	for name, test := range map[string]struct {
		options Options
		check   func(error) bool
	}{
		"unknown authority": {Options{}, func(err error) bool {
			var unknown x509.UnknownAuthorityError
			return errors.As(err, &unknown)
		}},
		"configuration": {Options{HTTP: promconfig.HTTPClientConfig{TLSConfig: promconfig.TLSConfig{CAFile: "nowhere.pem"}}}, func(err error) bool {
			return errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), "nowhere.pem")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := post(t, server.URL)
			_, err := newClient(t, test.options).RoundTrip(r)
			var failed *Error
			if !errors.As(err, &failed) || failed.Step != StepTLS || !test.check(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestTLSClientCertificateMissing has a server that requires a client certificate. In TLS 1.3 it
// refuses after the handshake, which still counts as a failure of TLS.
func TestTLSClientCertificateMissing(t *testing.T) {
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: version, MaxVersion: version}
			server.StartTLS()
			defer server.Close()
			r, _ := post(t, server.URL)
			_, err := newClient(t, trusting(server)).RoundTrip(r)
			var failed *Error
			if !errors.As(err, &failed) || failed.Step != StepTLS {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTLSHandshakeDeadline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepted by the kernel, but by no server
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, trace := post(t, "https://"+l.Addr().String())
	trace.HeaderDeadline = time.Now().Add(20 * time.Millisecond)
	_, err = newClient(t, Options{}).RoundTrip(r)
	var failed *Error
	if !errors.As(err, &failed) || failed.Step != StepTLS || !failed.Timeout() {
		t.Errorf("got %v", err)
	}
}
