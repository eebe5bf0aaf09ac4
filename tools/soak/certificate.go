//go:build linux

package main

import (
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"os"
)

// newCertificate returns a certificate for loopback, and writes it to a file for clients to trust.
func newCertificate(path string) (*tls.Certificate, error) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return &s.TLS.Certificates[0], os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644)
}
