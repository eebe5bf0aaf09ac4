// Package tlstest has servers and files whose certificates and keys are rotated during the
// life of their clients, like an operator or a kubelet does.
package tlstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"
)

// Generation holds everything that is rotated together: an authority, a certificate of it
// for servers and clients at 127.0.0.1, and a token.
type Generation struct {
	CA, Cert, Key []byte // PEM
	Token         string
}

// NewGeneration makes a generation. The token identifies it.
func NewGeneration(t *testing.T, token string) Generation {
	t.Helper()
	authorityKey, authority := key(t), template("authority "+token)
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	leafKey, leaf := key(t), template("127.0.0.1")
	leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.MarshalECPrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	return Generation{
		CA:   certificate(t, authority, authority, authorityKey, authorityKey),
		Cert: certificate(t, leaf, authority, leafKey, authorityKey),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), Token: token,
	}
}

// config returns the configuration of a server that uses g and requires a certificate of g.
func (g Generation) config() (*tls.Config, error) {
	pair, err := tls.X509KeyPair(g.Cert, g.Key)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(g.CA)
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		SessionTicketsDisabled: true, // otherwise a session ticket would identify an old client
	}, err
}

func key(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
}

func certificate(t *testing.T, template, issuer *x509.Certificate, key, signer *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
