package wire

import (
	"io"
	"net/http"
	"net/url"
	"testing"

	promconfig "github.com/prometheus/common/config"

	"synthetic/tools/testkit/tlstest"
)

// TestRotation checks that new connections use rotated certificates, even if the client was created
// while the files were incomplete.
func TestRotation(t *testing.T) {
	for name, tc := range map[string]struct{ proxied, torn, http2 bool }{
		"direct": {}, "direct, made too early": {torn: true}, "HTTP/2": {http2: true},
		"over a proxy": {proxied: true}, "over a proxy, made too early": {proxied: true, torn: true},
	} {
		t.Run(name, func(t *testing.T) {
			now := tlstest.NewGeneration(t, "hunter2")
			files := tlstest.NewFiles(t, now)
			server := tlstest.NewServer(t, now, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "fine") }))
			o := Options{HTTP: promconfig.HTTPClientConfig{TLSConfig: files.Client(), EnableHTTP2: tc.http2}}
			if tc.proxied {
				proxy, err := url.Parse(tlstest.NewProxy(t))
				if err != nil {
					t.Fatal(err)
				}
				o.HTTP.ProxyConfig = promconfig.ProxyConfig{ProxyURL: promconfig.URL{URL: proxy}}
			}
			if tc.torn {
				files.Tear(now)
			}
			c := newClient(t, o)
			files.Rotate(now)
			tlstest.Rotation(t, server, files, now, func() error {
				r, _ := post(t, server.URL)
				r.Header.Set("Authorization", "Bearer "+server.Token())
				resp, err := c.RoundTrip(r)
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				_, err = io.Copy(io.Discard, resp.Body)
				return err
			})
		})
	}
}
