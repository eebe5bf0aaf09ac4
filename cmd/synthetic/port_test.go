package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
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

// TestRunSaysWhoCanAsk: the log names the addresses, and warns that anyone can read from them unless
// only this machine can.
func TestRunSaysWhoCanAsk(t *testing.T) {
	_, a := fastDeployment(t)
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}), "--web.listen-address=127.0.0.2:0")
	p.err.find(t, `Serving this machine only.*addresses="127.0.0.1:\d+ 127.0.0.2:\d+" reload_over_http=false`)
	p = sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}), "--web.listen-address=0.0.0.0:0")
	p.err.find(t, `Anyone who reaches these addresses can read .*addresses="127.0.0.1:\d+ 0.0.0.0:\d+|Anyone who reaches these addresses can read .*addresses="127.0.0.1:\d+ \[::\]:\d+`)
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

// leasedConfig has a module that names one host and matches the others of this machine by a pattern.
func leasedConfig(t *testing.T, host string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	text := "discovery: [{name: chat, allowed_hosts: [\"" + host + "\", 127.0.0.0/8], lease: 1m, max_targets: 4, target: {model: simulated-chat}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// scrape requests the series of a target, and returns the status.
func scrape(t *testing.T, client *http.Client, base, target string, change func(*http.Request)) int {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, base+"/probe?"+url.Values{"module": {"chat"}, "target": {target}}.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	return statusOf(t, client, req)
}

func statusOf(t *testing.T, client *http.Client, req *http.Request) int {
	t.Helper()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// TestForeignRequestsChangeNothing: a thousand requests that web pages of other sites can make a browser
// send, and as many to a host that only a pattern allows, send nothing to a target, lease nothing and
// change nothing. Meanwhile no legitimate lease is refused.
func TestForeignRequestsChangeNothing(t *testing.T) {
	var received atomic.Int64
	victim := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received.Add(1) }))
	defer victim.Close()
	_, a := fastDeployment(t)
	p := sidecarRun(t, leasedConfig(t, strings.TrimPrefix(a.URL, "http://")), "--web.enable-lifecycle")
	client := &http.Client{}
	defer client.CloseIdleConnections()
	foreign := []func(*http.Request){
		func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		func(r *http.Request) { r.Header.Set("Origin", "null") },
		func(r *http.Request) { r.Host = "evil.example:9877" }, // DNS rebinding
		func(r *http.Request) { r.Host = "evil.example"; r.Header.Set("Origin", "http://evil.example") },
	}
	for i := range 1000 {
		change := foreign[i%len(foreign)]
		method, path := http.MethodPost, []string{"/-/reload", "/-/accept?target=chat/x"}[i%2]
		if i%2 == 0 {
			// An exact host, so that only the foreign origin speaks against the lease.
			method, path = http.MethodGet, fmt.Sprintf("/probe?module=chat&target=%s/%d/v1", a.URL, i)
		}
		req, err := http.NewRequest(method, p.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		change(req)
		if code := statusOf(t, client, req); code != http.StatusForbidden {
			t.Fatalf("%s %s of another site: %d", method, path, code)
		}
		if code := scrape(t, client, p.base, fmt.Sprintf("%s/%d/v1", victim.URL, i), nil); code != http.StatusForbidden {
			t.Fatalf("a host of a pattern without a password: %d", code)
		}
		if i%100 == 0 {
			if code := scrape(t, client, p.base, a.URL+"/v1", nil); code != http.StatusOK {
				t.Fatalf("a legitimate scrape: %d", code)
			}
		}
	}
	p.until("one leased target", func(s map[string]float64) bool { return s[`synthetic_discovered_targets{group="chat"}`] == 1 })
	if n := received.Load(); n > 0 {
		t.Errorf("%d requests were sent to the victim", n)
	}
	if log := p.err.String(); strings.Contains(log, "A change was marked") || strings.Count(log, "Loaded the configuration") != 1 {
		t.Errorf("the log tells of changes:\n%s", log)
	}
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// TestPatternsNeedAuthentication: a host that only a pattern allows is leased with a password or a client
// certificate of the web configuration, by any name of this process, and not without one.
func TestPatternsNeedAuthentication(t *testing.T) {
	g := tlstest.NewGeneration(t, "hunter2")
	files := tlstest.NewFiles(t, g)
	pair, err := tls.X509KeyPair(g.Cert, g.Key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(g.CA)
	server := "tls_server_config:\n  cert_file: " + files.Path("cert.pem") + "\n  key_file: " + files.Path("key.pem") + "\n"
	// The password is hunter2.
	const users = "basic_auth_users: {prometheus: $2a$04$YE4Pp5GrH3vmExPQXxsX6eRUxoem4jC45oUjf/lsdqT9oqJOlqeQK}\n"
	password := func(r *http.Request) { r.SetBasicAuth("prometheus", "hunter2"); r.Host = "synthetic.example.com" }
	_, a := fastDeployment(t)
	for name, tc := range map[string]struct {
		web    string
		client *tls.Config // nil for plain HTTP
		change func(*http.Request)
		want   int
	}{
		"a password":                {users, nil, password, 200},
		"a password over TLS":       {server + users, &tls.Config{RootCAs: pool}, password, 200},
		"a wrong password":          {users, nil, func(r *http.Request) { r.SetBasicAuth("prometheus", "x") }, 401},
		"a password nobody checks":  {server, &tls.Config{RootCAs: pool}, func(r *http.Request) { r.SetBasicAuth("prometheus", "hunter2") }, 403},
		"a password, another site":  {users, nil, func(r *http.Request) { password(r); r.Header.Set("Origin", "http://evil.example") }, 403},
		"a verified certificate":    {server + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: " + files.Path("ca.pem") + "\n", &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil, 200},
		"a certificate, unverified": {server + "  client_auth_type: RequireAnyClientCert\n", &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil, 403},
	} {
		t.Run(name, func(t *testing.T) {
			web := filepath.Join(t.TempDir(), "web.yml")
			if err := os.WriteFile(web, []byte(tc.web), 0o600); err != nil {
				t.Fatal(err)
			}
			p := sidecarRun(t, leasedConfig(t, "no.such.host"), "--web.config.file="+web)
			transport := &http.Transport{TLSClientConfig: tc.client}
			defer transport.CloseIdleConnections()
			base := p.base
			if tc.client != nil {
				base = "https" + strings.TrimPrefix(base, "http")
			}
			if code := scrape(t, &http.Client{Transport: transport}, base, a.URL+"/v1", tc.change); code != tc.want {
				t.Errorf("%d, want %d", code, tc.want)
			}
			p.end()
		})
	}
}
