package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe/target"
	"synthetic/internal/serverside"
)

func TestServerMetrics(t *testing.T) {
	plain := minimalTarget("a-8000")
	tls := minimalTarget("s")
	tls.BaseURL, tls.Key = "https://s/v1", target.Credential{Env: "S_KEY"}
	tls.HTTP.TLSConfig.ServerName = "inner"
	for name, tt := range map[string]struct {
		text string
		want []serverside.Watched
	}{
		"off by default": {"targets: [{base_url: http://a:8000}]", nil},
		"every default": {
			"targets: [{base_url: http://a:8000, server_metrics: {}}]",
			[]serverside.Watched{{Target: plain, URLs: []string{"http://a:8000/metrics"}}},
		},
		"several workers": {
			`targets: [{base_url: http://a:8000, server_metrics: {urls: ["http://b:9090/metrics/", "http://c:9090/metrics"]}}]`,
			[]serverside.Watched{{Target: plain, URLs: []string{"http://b:9090/metrics", "http://c:9090/metrics"}}},
		},
		"the target's key and TLS": {
			`targets: [{base_url: http://a:8000}, {name: s, base_url: "https://s/v1", api_key_env: S_KEY, http_client: {tls_config: {server_name: inner}}, server_metrics: {}}]`,
			[]serverside.Watched{{Target: tls, URLs: []string{"https://s/metrics"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := Parse("test.yml", []byte(tt.text), ".")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, cfg.ServerMetrics); diff != "" {
				t.Errorf("server metrics (-want +got):\n%s", diff)
			}
		})
	}
}
