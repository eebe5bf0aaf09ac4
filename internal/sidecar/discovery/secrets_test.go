package discovery

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	promconfig "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/file"
	"github.com/prometheus/prometheus/discovery/http"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"synthetic/internal/redact"
	"synthetic/tools/testkit/echo"
)

// TestLabelsThatResembleAHeaderStay: the value of a target's header does not change the addresses and
// labels of a source that gets no secrets.
func TestLabelsThatResembleAHeaderStay(t *testing.T) {
	const header = "chat.models.of-a-header"
	redact.Value(header)
	s := &source{changed: func() {}, groups: map[string]*targetgroup.Group{}, config: &file.SDConfig{}}
	s.record([]*targetgroup.Group{{Source: "a", Targets: []model.LabelSet{{model.AddressLabel: header + ":8000"}}, Labels: model.LabelSet{"host": header}}})
	all, _ := s.found()
	if got := all[0].String(); got != `{__address__="`+header+`:8000", host="`+header+`"}` {
		t.Errorf("the labels became %s", got)
	}
}

// TestSourceRepeatsItsToken: labels have no OAuth 2 token, which is in no file.
func TestSourceRepeatsItsToken(t *testing.T) {
	mux := nethttp.NewServeMux()
	mux.HandleFunc("POST /token", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"a-token-of-a-discovery-0123456789","token_type":"bearer","expires_in":3600}`)
	})
	mux.HandleFunc("GET /", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `[{"targets": ["a:1"], "labels": {"owner": %q}}]`, r.Header.Get("Authorization"))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	c := http.DefaultSDConfig
	c.URL, c.HTTPClientConfig.OAuth2 = server.URL, &promconfig.OAuth2{ClientID: "id", TokenURL: server.URL + "/token"}
	found := make(chan struct{}, 1)
	s := newSources(Group{Sources: []prom.Config{&c}}, func() { poke(found) })[0]
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.run(ctx, slog.New(slog.DiscardHandler))
	}()
	<-found
	cancel()
	<-ended
	if all, _ := s.found(); all[0].Get("owner") != "Bearer "+redact.Mark {
		t.Errorf("the labels are %v", all)
	}
}

// TestSourceRepeatsItsPassword: neither labels, with their names, nor errors of a source have the password that it got.
func TestSourceRepeatsItsPassword(t *testing.T) {
	for _, password := range echo.Keys() {
		path := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		searcher := echo.NewSearcher(password)
		for _, form := range echo.Forms() {
			s := &source{changed: func() {}, groups: map[string]*targetgroup.Group{}, config: &http.SDConfig{
				HTTPClientConfig: promconfig.HTTPClientConfig{BasicAuth: &promconfig.BasicAuth{PasswordFile: path}},
			}}
			said := form.Spell(password)
			var log strings.Builder
			slog.New(listener{s, slog.NewTextHandler(&log, nil)}).Error("Unable to refresh target groups", "err", said)
			_, failure, _ := s.standing()
			s.record([]*targetgroup.Group{{Source: "a", Targets: []model.LabelSet{{"owner": model.LabelValue(said), model.LabelName(said): "x"}}}})
			all, _ := s.found()
			for where, text := range map[string]string{"log": log.String(), "page": failure, "labels": all[0].String()} {
				if name, run := searcher.Find(text); name != "" || text == "" {
					t.Errorf("%s: the %s has %q (%s): %q", form.Name, where, run, name, text)
				}
			}
		}
	}
}
