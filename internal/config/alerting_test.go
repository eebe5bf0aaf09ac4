package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	promconfig "github.com/prometheus/common/config"
)

func TestAlerting(t *testing.T) {
	const targets = "targets: [{base_url: http://a:8000}]\n"
	for name, tc := range map[string]struct {
		text string
		want *Alerting
	}{
		"absent":   {"", nil},
		"defaults": {"alerting: {}", &Alerting{Interval: 15 * time.Second}},
		"every key": {`
alerting:
  alertmanagers:
    - url: http://one:9093/am/
    - url: https://two:9093
      http_client:
        basic_auth: {username: pager, password_file: key.txt}
        tls_config: {ca_file: ca.pem, cert_file: cert.pem, key_file: key.txt, server_name: am, insecure_skip_verify: true}
    - {url: http://three:9093, http_client: {authorization: {credentials_file: key.txt}}}
  external_labels: {cluster: eu-1}
  external_url: https://synthetic.example.com/
  runbook_url: https://git.example.com/runbooks
  dashboard_url: https://grafana.example.com/d
  interval: 5s
  directory: pager
`, &Alerting{
			Alertmanagers: []alertmanager{
				{URL: "http://one:9093/am"},
				{URL: "https://two:9093", client: client{HTTP: promconfig.HTTPClientConfig{
					BasicAuth: &promconfig.BasicAuth{Username: "pager", PasswordFile: "testdata/good/key.txt"},
					TLSConfig: promconfig.TLSConfig{
						CAFile: "testdata/good/ca.pem", CertFile: "testdata/good/cert.pem", KeyFile: "testdata/good/key.txt",
						ServerName: "am", InsecureSkipVerify: true,
					},
				}}},
				{URL: "http://three:9093", client: client{HTTP: promconfig.HTTPClientConfig{
					Authorization: &promconfig.Authorization{Type: "Bearer", CredentialsFile: "testdata/good/key.txt"},
				}}},
			},
			ExternalLabels: map[string]string{"cluster": "eu-1"},
			ExternalURL:    "https://synthetic.example.com",
			RunbookURL:     "https://git.example.com/runbooks",
			DashboardURL:   "https://grafana.example.com/d",
			Interval:       5 * time.Second,
			Directory:      "testdata/good/pager",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := Parse("synthetic.yml", []byte(targets+tc.text), "testdata/good")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, cfg.Alerting, sameConfig); diff != "" {
				t.Errorf("alerting (-want +got):\n%s", diff)
			}
		})
	}
}
