package sidecar_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
)

// TestMark sends marks to a sidecar over HTTP and checks its answers and series.
func TestMark(t *testing.T) {
	cfg, err := config.Parse("synthetic.yml", []byte(`targets: [{name: east, base_url: "http://east"}]`), ".")
	if err != nil {
		t.Fatal(err)
	}
	event := func(state string) string {
		return fmt.Sprintf(`{"action": "created", "deployment_status": {"state": %q, "created_at": "2026-11-01T10:00:00Z"}, "deployment": {"ref": "v7", "sha": "abc", "environment": "production"}, "repository": {"name": "router"}}`, state)
	}
	form, text := "application/x-www-form-urlencoded", url.Values{"text": {"release 7"}}.Encode()
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for name, tt := range map[string]struct {
		query, media, github, body string
		code                       int
		want                       string // in the answer
		change                     string // in the series; "" for none
	}{
		"form":                {"", form, "", text, 200, "marked", "release 7"},
		"query":               {"?" + text + "&target=east", "", "", "", 200, "marked", "release 7"},
		"unknown target":      {"?target=west", form, "", text, 404, "write target as one of east", ""},
		"nothing":             {"", "", "", "", 400, "text is missing: say what changed: write for example", ""},
		"json":                {"", "application/json; charset=utf-8", "", `{"text": "release 7", "target": "east"}`, 200, "marked", "release 7"},
		"json with a time":    {"?target=east", "application/json", "", fmt.Sprintf(`{"text": "release 7", "at": %q}`, time.Now().Add(-time.Hour).Format(time.RFC3339)), 200, "marked", "release 7"},
		"json, other target":  {"", "application/json", "", `{"text": "release 7", "target": "west"}`, 404, "write target as one of east", ""},
		"json, no text":       {"", "application/json", "", `{"target": "east"}`, 400, "text is missing", ""},
		"json, unknown key":   {"", "application/json", "", `{"text": "release 7", "tagret": "east"}`, 400, `unknown field "tagret"`, ""},
		"json, number":        {"", "application/json", "", `{"text": 7}`, 400, `"text" must be a text, not number: write for example`, ""},
		"json, cut":           {"", "application/json", "", `{"text": "release`, 400, "the body is no mark: unexpected EOF", ""},
		"json, bad time":      {"", "application/json", "", `{"text": "release 7", "at": "yesterday"}`, 400, `at: "yesterday" is no time: write for example`, ""},
		"json, future":        {"", "application/json", "", fmt.Sprintf(`{"text": "release 7", "at": %q}`, soon), 400, soon + " is in the future", ""},
		"github, created":     {"?target=east", "application/json", "deployment", `{}`, 200, `ignored: the event "deployment"`, ""},
		"github, environment": {"?target=east&environment=production", "application/json", "deployment_status", event("in_progress"), 200, "marked", "deployment of router v7 to production"},
		"github, other":       {"?environment=staging", "application/json", "deployment_status", event("in_progress"), 200, `ignored: the environment "production"`, ""},
		"github, begun":       {"", "application/json", "deployment_status", event("in_progress"), 200, "marked", "deployment of router v7 to production"},
		"github, success":     {"", "application/json", "deployment_status", event("success"), 200, "marked", "deployment of router v7 to production"},
		"github, queued":      {"", "application/json", "deployment_status", event("queued"), 200, `ignored: the state "queued"`, ""},
		"github, other event": {"", "application/json", "ping", `{"zen": "x"}`, 200, `ignored: the event "ping"`, ""},
		"github, not its":     {"", "application/json", "deployment_status", `{"deployment": {}}`, 400, "deployment.environment or deployment.ref is missing", ""},
		"github, not json":    {"", "application/json", "deployment_status", `payload=x`, 400, "set the content type of the webhook to application/json", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := markable(t, cfg, true)
			tt.body = strings.ReplaceAll(tt.body, "2026-11-01T10:00:00Z", time.Now().UTC().Format(time.RFC3339)) // the series last a day
			req, err := http.NewRequest(http.MethodPost, s+"/-/mark"+tt.query, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", tt.media)
			if tt.github != "" {
				req.Header.Set("X-GitHub-Event", tt.github)
			}
			code, body := send(t, req)
			if code != tt.code || !strings.Contains(body, tt.want) {
				t.Errorf("%d %s, want %d and %q", code, body, tt.code, tt.want)
			}
			get, _ := http.NewRequest(http.MethodGet, s+"/metrics", nil)
			_, series := send(t, get)
			got := regexp.MustCompile(`synthetic_change_timestamp_seconds{change="(.*?)",target="east"`).FindStringSubmatch(series)
			if (tt.change == "") != (got == nil) || got != nil && got[1] != tt.change {
				t.Errorf("the series of the change is %q, want %q", got, tt.change)
			}
		})
	}
	req, _ := http.NewRequest(http.MethodPost, markable(t, cfg, false)+"/-/mark?"+text, nil)
	if code, body := send(t, req); code != http.StatusForbidden {
		t.Errorf("without the lifecycle: %d %s", code, body)
	}
}

// markable returns the URL of a sidecar with a configuration.
func markable(t *testing.T, cfg *config.Config, lifecycle bool) string {
	t.Helper()
	s, err := sidecar.New(sidecar.Options{Lifecycle: lifecycle})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

func send(t *testing.T, r *http.Request) (code int, body string) {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestFingerprintIsMarked: another system_fingerprint of all answers is a mark after three conversations.
func TestFingerprintIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, end := newSite(t, forgetfulPager)
		defer end()
		prober, stop := s.begin()
		defer stop()
		time.Sleep(12 * time.Minute) // with about 144 conversations
		changed := regexp.MustCompile(`synthetic_change_timestamp_seconds{change="system_fingerprint fp_\w+ → fp_\w+",target="chat"} `)
		if _, series := read(prober, http.MethodGet, "/metrics"); strings.Contains(series, "synthetic_change_timestamp") {
			t.Error("there is a change before the change")
		}
		s.target.Update(befall(simulate.NewFingerprint, 1))
		time.Sleep(2 * time.Minute)
		if _, series := read(prober, http.MethodGet, "/metrics"); !changed.MatchString(series) {
			t.Errorf("no mark: %s", regexp.MustCompile(`synthetic_change.*`).FindAllString(series, -1))
		}
	})
}

// TestEndOfADeployment: the end of a deployment whose start is marked is no further mark.
func TestEndOfADeployment(t *testing.T) {
	cfg, err := config.Parse("synthetic.yml", []byte(`targets: [{name: east, base_url: "http://east"}]`), ".")
	if err != nil {
		t.Fatal(err)
	}
	url := markable(t, cfg, true) + "/-/mark?target=east"
	start := time.Now().Add(-time.Hour).UTC()
	for _, tt := range []struct {
		ref, state string
		at         time.Time
		want       string
	}{
		{"v7", "in_progress", start, "marked"},
		{"v7", "success", start.Add(time.Hour), `ignored: the state "success"; the start of the deployment is marked`},
		{"v8", "failure", start.Add(time.Hour), "marked"},
	} {
		body := fmt.Sprintf(`{"deployment_status": {"state": %q, "created_at": %q}, "deployment": {"ref": %q, "environment": "production"}, "repository": {"name": "router"}}`,
			tt.state, tt.at.Format(time.RFC3339), tt.ref)
		req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "X-Github-Event": {"deployment_status"}}
		if code, got := send(t, req); code != http.StatusOK || strings.TrimSpace(got) != tt.want {
			t.Errorf("%s of %s: %d %s, want %q", tt.state, tt.ref, code, got, tt.want)
		}
	}
}

// read returns what the sidecar serves at a path.
func read(s *sidecar.Sidecar, method, path string) (code int, body string) {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1"+path, nil))
	return w.Code, w.Body.String()
}
