package sidecar_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	amconfig "github.com/prometheus/alertmanager/config"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
)

// receiversConfig has a receiver and a maintenance window that never ends.
const receiversConfig = `
targets: [{name: east, base_url: "http://east"}]
alerting:
  receivers: [{name: team, webhook_configs: [{url: "http://hooks.example.com/x"}]}]
  route: {receiver: team, routes: [{matchers: [target="north"], mute_time_intervals: [always]}]}
  time_intervals: [{name: always, time_intervals: [{years: ["2000:2999"]}]}]
`

// TestSilences: silences are added, listed and ended over HTTP, if that is enabled, and the pages say
// what is muted.
func TestSilences(t *testing.T) {
	const body = `{"matchers": [{"name": "target", "value": "east"}], "endsAt": "2999-12-01T14:30:00Z", "comment": "maintenance"}`
	for name, tt := range map[string]struct {
		config string
		closed bool
		code   int
		want   string
	}{
		"enabled":      {receiversConfig, false, 200, `"silenceID"`},
		"not enabled":  {receiversConfig, true, 403, "start synthetic run with --web.enable-lifecycle"},
		"no receivers": {`targets: [{name: east, base_url: "http://east"}]`, false, 404, "alerting.receivers is not configured"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.Parse("synthetic.yml", []byte(tt.config), ".")
			if err != nil {
				t.Fatal(err)
			}
			s, err := sidecar.New(sidecar.Options{Lifecycle: !tt.closed})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Apply(cfg); err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1/api/v2/silences", strings.NewReader(body)))
			if w.Code != tt.code || !strings.Contains(w.Body.String(), tt.want) {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if tt.code != http.StatusOK {
				return
			}
			for _, path := range []string{"/", "/alerts"} {
				_, page := read(s, http.MethodGet, path)
				for _, want := range []string{"muted until 1 Dec 14:30 UTC: maintenance (alerts with target=&#34;east&#34;)", "muted: always (alerts with target=&#34;north&#34;)"} {
					if !strings.Contains(page, want) {
						t.Errorf("%s does not say %q", path, want)
					}
				}
			}
			if code, list := read(s, http.MethodGet, "/api/v2/silences"); code != http.StatusOK || !strings.Contains(list, `"state":"active"`) {
				t.Errorf("the list: %d %s", code, list)
			}
			_, id, _ := strings.Cut(w.Body.String(), `"silenceID":"`)
			id, _, _ = strings.Cut(id, `"`)
			if code, text := read(s, http.MethodDelete, "/api/v2/silence/"+id); code != http.StatusOK {
				t.Errorf("ending the silence: %d %s", code, text)
			}
			if _, page := read(s, http.MethodGet, "/"); strings.Contains(page, "maintenance") {
				t.Error("an ended silence is on the page")
			}
		})
	}
}

// TestReceiversFollowTheFile: a reload changes the own receivers, but not whether there are any.
func TestReceiversFollowTheFile(t *testing.T) {
	s, err := sidecar.New(sidecar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tt := range []struct{ name, text, refused string }{
		{"the first", receiversConfig, ""},
		{"a window has another name", strings.ReplaceAll(receiversConfig, "always", "weekend"), ""},
		{"no receivers", strings.SplitAfter(receiversConfig, "alerting:")[0] + " {}", "not whether there are receivers"},
		{"another interval", strings.ReplaceAll(receiversConfig, "alerting:", "alerting:\n  interval: 1m"), "restart it"},
	} {
		cfg, err := config.Parse("synthetic.yml", []byte(tt.text), ".")
		if err != nil {
			t.Fatal(err)
		}
		err = s.Apply(cfg)
		if (err != nil) != (tt.refused != "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, page := read(s, http.MethodGet, "/alerts"); !strings.Contains(page, "muted: weekend") {
		t.Error("the page does not know the new window")
	}
}

// TestOwnInhibitions: without inhibition rules of the user, those of the example are in force.
func TestOwnInhibitions(t *testing.T) {
	text, err := os.ReadFile("../../examples/alertmanager/alertmanager.yml")
	if err != nil {
		t.Fatal(err)
	}
	example, err := amconfig.Load(string(text))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse("synthetic.yml", []byte(receiversConfig), ".")
	if err != nil {
		t.Fatal(err)
	}
	own := sidecar.OwnReceivers(cfg.Alerting).Config
	if len(own.InhibitRules) != len(example.InhibitRules) {
		t.Fatalf("%d rules, not %d", len(own.InhibitRules), len(example.InhibitRules))
	}
	for i, want := range example.InhibitRules {
		got := own.InhibitRules[i]
		if got, want := fmt.Sprint(got.SourceMatchers, got.TargetMatchers, got.Equal), fmt.Sprint(want.SourceMatchers, want.TargetMatchers, want.Equal); got != want {
			t.Errorf("rule %d is %s, not %s", i, got, want)
		}
	}
	if len(cfg.Alerting.Notify.Config.InhibitRules) != 0 {
		t.Error("the configuration was changed")
	}
}
