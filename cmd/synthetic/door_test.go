package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/tools/testkit/tlstest"
)

// TestOwnCertificateIsRotated: the port always serves the certificate that is in its files
// now. While the files are half-written or missing, it refuses connections.
func TestOwnCertificateIsRotated(t *testing.T) {
	now, next := tlstest.NewGeneration(t, "hunter2"), tlstest.NewGeneration(t, "hunter3")
	files := tlstest.NewFiles(t, now)
	web := filepath.Join(t.TempDir(), "web.yml")
	text := "tls_server_config:\n  cert_file: " + files.Path("cert.pem") + "\n  key_file: " + files.Path("key.pem") + "\n"
	if err := os.WriteFile(web, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, a := fastDeployment(t)
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}), "--web.config.file="+web)
	for _, step := range []struct {
		what  string
		do    func()
		trust tlstest.Generation
		works bool
	}{
		{"at first", func() {}, now, true},
		{"rotated", func() { files.Rotate(next) }, next, true},
		{"half-written", func() { files.Tear(next) }, next, false},
		{"missing", files.Remove, next, false},
		{"there again", func() { files.Rotate(next) }, next, true},
	} {
		step.do()
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(step.trust.CA)
		c, err := tls.Dial("tcp", strings.TrimPrefix(p.base, "http://"), &tls.Config{RootCAs: pool})
		if (err == nil) != step.works {
			t.Errorf("%s: %v", step.what, err)
		}
		if err == nil {
			c.Close()
		}
	}
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// TestRunSaysWhoCanAsk: the log names the addresses and warns that anyone can read from
// them.
func TestRunSaysWhoCanAsk(t *testing.T) {
	_, a := fastDeployment(t)
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}), "--web.listen-address=127.0.0.2:0")
	p.err.find(t, `Anyone who reaches these addresses can read .*addresses="127.0.0.1:\d+ 127.0.0.2:\d+" reload_over_http=false`)
	out := newBuffer()
	if code := run(t.Context(), []string{"run", "--help"}, out, out); code != exitOK || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), "without a password") {
		t.Errorf("--help does not warn who can read the port (%d):\n%s", code, out)
	}
}

// TestReloadRefusesOtherSites: a web page of another site cannot make a browser reload the
// configuration; curl can.
func TestReloadRefusesOtherSites(t *testing.T) {
	_, a := fastDeployment(t)
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}), "--web.enable-lifecycle")
	post := func(site string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, p.base+"/-/reload", nil)
		if err != nil {
			t.Fatal(err)
		}
		if site != "" {
			req.Header.Set("Sec-Fetch-Site", site)
		}
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var body bytes.Buffer
		_, _ = body.ReadFrom(resp.Body)
		return resp.StatusCode, body.String()
	}
	if code, body := post("cross-site"); code != http.StatusForbidden || !strings.Contains(body, "another site") {
		t.Errorf("another site: %d %s", code, body)
	}
	for _, site := range []string{"", "same-origin"} {
		if code, body := post(site); code != http.StatusOK {
			t.Errorf("%q: %d %s", site, code, body)
		}
	}
}

// TestDemoStaysOnThisMachine: the demo listens on loopback by default.
func TestDemoStaysOnThisMachine(t *testing.T) {
	for range 2 { // the second demo finds the default port in use
		l, err := (&demoFlags{}).webListener()
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
			t.Errorf("the demo listens on %v", ip)
		}
	}
}
