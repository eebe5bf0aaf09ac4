package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/simulate"
)

// initialised runs "synthetic init", checks that its file is a valid configuration, and
// returns the text.
func initialised(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	var out bytes.Buffer
	if code := run(t.Context(), append([]string{"init", "--output.file=" + file}, args...), &out, &out); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &out)
	}
	if next := commandLine("run", "--config.file="+file); !strings.HasSuffix(out.String(), "  "+next+"\n") {
		t.Errorf("init does not end with the command %q:\n%s", next, &out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, finding, found := strings.Cut(string(text), "# Sessions: "); found {
		finding, _, _ = strings.Cut(finding, ".\n")
		if !strings.HasPrefix(out.String()[strings.Index(out.String(), "\n")+1:], finding+"\nwrote ") {
			t.Errorf("init does not print the finding %q:\n%s", finding, &out)
		}
	}
	if _, err := config.Load(file); err != nil {
		t.Errorf("the written configuration is invalid: %v\n%s", err, text)
	}
	return string(text)
}

// TestInit runs init against different endpoints.
func TestInit(t *testing.T) {
	d, all := fastDeployment(t, func(o *simulate.Options) { o.Model, o.Reasoning = "m", .5 })
	only := func(paths ...string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, p := range paths {
				if r.URL.Path == p {
					d.ServeHTTP(w, r)
					return
				}
			}
			http.Error(w, "no\r\ntargets: []\x00\u2028evil: true", http.StatusNotFound)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	t.Setenv("SYNTHETIC_TEST_KEY", "secret")
	oddly, _ := fastDeployment(t, func(o *simulate.Options) { o.Model = "a\": [\u2028#{{.}}" })
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/chat/completions" {
			oddly.ServeHTTP(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"data":[{"id":"a\": [\u2028#{{.}}"}],"version":"1\n2: 3"}`))
	}))
	t.Cleanup(odd.Close)
	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"everything": {[]string{"--base-url=" + all.URL}, []string{
			`base_url: "` + all.URL + `/v1"`, "api: chat # it answered, and so did responses, messages, completions",
			`model: "m" # the only listed model`, "\n    server_metrics: {} # ", "have token counts, also of cached tokens",
			`max_output_tokens: 1024 # with the reasoning that the model sends in "reasoning"`,
			"The slowest request of \"synthetic init\" had", "timeouts: {first_token: ", "\ntimezone: ",
		}},
		"one API": {[]string{"--base-url=" + only("/v1/messages", "/v1/models") + "/v1"}, []string{
			"api: messages # it answered\n", "# No successful turn over chat: http_4xx, ", "# server_metrics: {urls",
		}},
		"the wanted API": {[]string{"--base-url=" + all.URL, "--api=responses", "--model=m"}, []string{"api: responses # it answered\n"}},
		"no list":        {[]string{"--base-url=" + only("/v1/chat/completions"), "--model=m"}, []string{`model: "m"`, "# The models could not be listed: "}},
		"odd texts":      {[]string{"--base-url=" + odd.URL}, []string{`# The server reports version "1 2: 3"`}},
		"a key": {[]string{"--base-url=" + all.URL, "--api-key-env=SYNTHETIC_TEST_KEY"}, []string{
			"api_key_env: SYNTHETIC_TEST_KEY # the name of the variable",
		}},
		"a version": {[]string{"--api=messages", "--base-url=" + all.URL + "/v1?api-version=v9"}, []string{`base_url: "` + all.URL + `/v1"`, `api_version: "v9"`}},
	} {
		t.Run(name, func(t *testing.T) {
			text := initialised(t, test.args...)
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
		})
	}
}

// TestFirstTokenTimeout: the proposed timeout follows the slowest TTFT between 5 s and the default.
func TestFirstTokenTimeout(t *testing.T) {
	for slowest, want := range map[time.Duration]time.Duration{
		30 * time.Millisecond: 5 * time.Second, 811 * time.Millisecond: 9 * time.Second, 4 * time.Second: 30 * time.Second,
	} {
		if got := (&findings{SlowestTTFT: slowest}).FirstToken(); got != want {
			t.Errorf("slowest TTFT %v: %v, want %v", slowest, got, want)
		}
	}
}

// TestCommandLine: a shell reads a printed command as the same words.
func TestCommandLine(t *testing.T) {
	want := []string{"run", "--config.file=it's here/$x.yml", "", "*"}
	out, err := exec.Command("sh", "-c", `printf '%s\n' `+strings.TrimPrefix(commandLine(want...), commandLine()+" ")).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q (%v)", got, want, err)
	}
}

// TestInitInterrupted: after Ctrl-C no file is written.
func TestInitInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		interrupt()
		<-r.Context().Done()
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	var out bytes.Buffer
	code := run(ctx, []string{"init", "--base-url=" + s.URL, "--output.file=" + file}, &out, &out)
	if _, err := os.Stat(file); err == nil || code != exitStopped || !strings.Contains(out.String(), "was not written") || !strings.Contains(out.String(), "64 tokens") {
		t.Errorf("exit code %d (%v): %s", code, err, &out)
	}
}
