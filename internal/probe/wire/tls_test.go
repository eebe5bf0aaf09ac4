package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

// trusting returns Options that trust the server's certificate.
func trusting(s *httptest.Server) Options {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return Options{TLSConfig: func() (*tls.Config, error) {
		return &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}}, nil
	}}
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
	noFile := errors.New("reading the CA file")
	for name, test := range map[string]struct {
		options Options
		check   func(error) bool
	}{
		"unknown authority": {Options{}, func(err error) bool {
			var unknown x509.UnknownAuthorityError
			return errors.As(err, &unknown)
		}},
		"configuration": {Options{TLSConfig: func() (*tls.Config, error) { return nil, noFile }}, func(err error) bool {
			return errors.Is(err, noFile)
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

// A server that wants a client certificate says so after the handshake: that
// is a failure of TLS all the same.
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

// A read that timed out leaves a TLS connection fit for use.
func TestTLSReadDeadlineIsRearmed(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		<-release
		io.WriteString(w, "late")
	}))
	defer server.Close()
	client := newClient(t, trusting(server))
	r, _ := post(t, server.URL)
	resp, err := client.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := resp.Body.(*Body)
	for range 2 {
		body.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := body.Read(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
	}
	close(release)
	body.SetReadDeadline(time.Time{})
	if b, err := io.ReadAll(body); err != nil || string(b) != "late" {
		t.Fatalf("got %q, %v", b, err)
	}
	if trace := exchange(t, client, server.URL); !trace.Reused {
		t.Error("the connection was not kept")
	}
}

// A server that says nothing does not hold up the handshake.
func TestTLSHandshakeDeadline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, nobody else
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
