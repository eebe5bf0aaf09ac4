package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/fleet"
)

// TestExpandDiscovery checks that found targets replace their group, also in selections.
func TestExpandDiscovery(t *testing.T) {
	const text = `
targets: [{base_url: "http://a:8000"}]
discovery:
  - name: pods
    file_sd_configs: [{files: [b.json]}]
    target: {model: llama, labels: {team: x}, service: chat}
slos:
  - {sli: ttft, threshold: 1s, objective: 99%, targets: [pods]}
  - {sli: availability, objective: 99%}
`
	cfg, err := Parse("synthetic.yml", []byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	jobs := func(f fleet.Fleet) (out []string) {
		for _, j := range f.Jobs {
			names := []string{j.Target.Name, j.Target.BaseURL, j.Target.Model, j.Target.Service}
			for _, o := range j.Objectives {
				names = append(names, o.Name+" of "+strings.Join(o.Targets, "+"))
			}
			out = append(out, strings.Join(names, ", "))
		}
		return out
	}
	for _, tc := range []struct {
		name string
		got  fleet.Fleet
		want []string
	}{
		{"nothing yet", cfg.WithDiscovered(nil), []string{"a-8000, http://a:8000/v1, , , availability of "}},
		{"two", cfg.WithDiscovered(map[string][]fleet.Discovered{"pods": {{Name: "p1", BaseURL: "http://b:1/v1"}, {Name: "p2", BaseURL: "http://b:2/v1", Model: "qwen", Service: "other"}}}), []string{
			"a-8000, http://a:8000/v1, , , availability of ",
			"pods/p1, http://b:1/v1, llama, chat, ttft of pods/p1+pods/p2, availability of ",
			"pods/p2, http://b:2/v1, qwen, other, ttft of pods/p1+pods/p2, availability of ",
		}},
		{"rules", cfg.ForRules(), []string{"a-8000, http://a:8000/v1, , , availability of ", "pods/*, , llama, chat, ttft of pods/*, availability of "}},
	} {
		if diff := cmp.Diff(tc.want, jobs(tc.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	if none := cfg.WithDiscovered(nil).SLOs[0].Targets; len(none) != 1 {
		t.Errorf("an objective of a group without targets is of %q: every target", none)
	}
}

// TestDiscoveryClient: the HTTP client of a source follows no redirect, and its files are beside the configuration.
func TestDiscoveryClient(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"password", "key", "ca"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := Parse("synthetic.yml", []byte(`
discovery:
  - name: basic
    http_sd_configs: [{url: "http://a/", basic_auth: {username: u, password_file: password}, tls_config: {ca_file: ca}}]
  - name: oauth
    http_sd_configs:
      - url: http://a/
        oauth2:
          client_id: c
          token_url: http://a/token
          grant_type: urn:ietf:params:oauth:grant-type:jwt-bearer
          client_certificate_key_file: key
`), dir)
	if err != nil {
		t.Fatal(err)
	}
	basic, _ := fleet.HTTPClient(cfg.Groups[0].Sources[0])
	oauth, ok := fleet.HTTPClient(cfg.Groups[1].Sources[0])
	if !ok || basic.FollowRedirects || oauth.FollowRedirects {
		t.Error("a source follows redirects")
	}
	got := []string{basic.BasicAuth.PasswordRef, basic.TLSConfig.CAFile, oauth.OAuth2.ClientCertificateKeyRef}
	if diff := cmp.Diff([]string{filepath.Join(dir, "password"), filepath.Join(dir, "ca"), filepath.Join(dir, "key")}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
