package wire

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"
)

// TestCertificateExpiresMeanwhile lets the server's certificate expire while the client keeps a
// connection: requests over it go on, and a new connection fails with the reason.
func TestCertificateExpiresMeanwhile(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	expires := time.Now().Add(3 * time.Second).Truncate(time.Second)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: expires,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}}
	server.StartTLS()
	defer server.Close()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	options := Options{HTTP: promconfig.HTTPClientConfig{TLSConfig: promconfig.TLSConfig{CA: ca}}}

	kept := newClient(t, options)
	if _, _, body := get(t, kept, server.URL); body != "ok" {
		t.Fatalf("before the expiry: %q", body)
	}
	<-time.After(time.Until(expires.Add(time.Second))) // a certificate is valid until the end of its last second
	if trace, _, body := get(t, kept, server.URL); body != "ok" || !trace.Reused {
		t.Errorf("over the kept connection: %q, reused %v", body, trace.Reused)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = newClient(t, options).RoundTrip(req)
	if failed, ok := errors.AsType[*Error](err); !ok || failed.Step != StepTLS || !strings.Contains(err.Error(), "expired") {
		t.Errorf("a new connection: %v, want a TLS error that says expired", err)
	}
}
