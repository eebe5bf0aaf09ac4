package serverside

import (
	"io"
	"net/http"
	"net/url"
	"testing"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe/target"
	"synthetic/tools/testkit/tlstest"
)

// TestRotation checks that new certificates and keys are used while a server's metrics are read.
func TestRotation(t *testing.T) {
	for name, proxied := range map[string]bool{"direct": false, "over a proxy": true} {
		t.Run(name, func(t *testing.T) {
			now := tlstest.NewGeneration(t, "hunter2")
			files := tlstest.NewFiles(t, now)
			server := tlstest.NewServer(t, now, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, counters) }))
			to := target.Target{
				BaseURL: server.URL + "/v1", Key: target.Credential{File: files.Path("token")},
				HTTP: promconfig.HTTPClientConfig{TLSConfig: files.Client()},
			}
			if proxied {
				proxy, err := url.Parse(tlstest.NewProxy(t))
				if err != nil {
					t.Fatal(err)
				}
				to.HTTP.ProxyConfig = promconfig.ProxyConfig{ProxyURL: promconfig.URL{URL: proxy}}
			}
			c, err := NewClient(to, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			tlstest.Rotation(t, server, files, now, func() error {
				_, err := c.Scrape(t.Context(), server.URL+"/metrics")
				return err
			})
		})
	}
}
