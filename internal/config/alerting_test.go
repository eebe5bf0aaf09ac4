package config

import (
	"slices"
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
		"defaults": {"alerting: {}", &Alerting{Interval: 15 * time.Second, Heartbeat: heartbeat{Method: "GET"}}},
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
  heartbeat: {url: https://beats.example.com/token, method: POST, http_client: {authorization: {type: GenieKey, credentials_file: key.txt}}}
`, &Alerting{
			Heartbeat: heartbeat{URL: "https://beats.example.com/token", Method: "POST", client: client{HTTP: promconfig.HTTPClientConfig{
				Authorization: &promconfig.Authorization{Type: "GenieKey", CredentialsFile: "testdata/good/key.txt"},
			}}},
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

// TestReceivers: the form is Alertmanager's; paths are relative to the configuration.
func TestReceivers(t *testing.T) {
	cfg, err := Parse("synthetic.yml", []byte(`
targets: [{base_url: http://a:8000}]
alerting:
  global: {http_config: {authorization: {credentials_file: key.txt}}}
  receivers:
    - name: first
      webhook_configs: [{url: "http://hooks.example.com/x", payload: {details_file: not-a-file}}]
      opsgenie_configs: [{api_key_file: key.txt}]
    - {name: second}
`), "testdata/good")
	if err != nil {
		t.Fatal(err)
	}
	o := cfg.Alerting.Notify
	if r := o.Config.Route; r.Receiver != "first" || !slices.Equal(r.GroupByStr, []string{"target"}) {
		t.Errorf("the route is %+v", r)
	}
	if n := o.Config.Receivers[0].OpsGenieConfigs[0]; n.APIKeyFile != "testdata/good/key.txt" || n.HTTPConfig.Authorization.CredentialsFile != "testdata/good/key.txt" {
		t.Errorf("Opsgenie's configuration is %+v", n)
	}
	if got, want := o.SecretFiles, []string{"testdata/good/key.txt", "testdata/good/key.txt"}; !slices.Equal(got, want) {
		t.Errorf("files with secrets are %q, not %q", got, want)
	}
}
