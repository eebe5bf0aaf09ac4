package discovery

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	promconfig "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/http"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"synthetic/tools/testkit/echo"
)

// TestSourceRepeatsItsPassword: neither labels nor errors of a source have the password that it got.
func TestSourceRepeatsItsPassword(t *testing.T) {
	for _, password := range echo.Keys() {
		file := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		searcher := echo.NewSearcher(password)
		for _, form := range echo.Forms() {
			s := &source{changed: func() {}, groups: map[string]*targetgroup.Group{}, config: &http.SDConfig{
				HTTPClientConfig: promconfig.HTTPClientConfig{BasicAuth: &promconfig.BasicAuth{PasswordFile: file}},
			}}
			said := form.Spell(password)
			var log strings.Builder
			slog.New(listener{s, slog.NewTextHandler(&log, nil)}).Error("Unable to refresh target groups", "err", said)
			_, failure, _ := s.standing()
			s.record([]*targetgroup.Group{{Source: "a", Targets: []model.LabelSet{{"owner": model.LabelValue(said)}}}})
			all, _ := s.found()
			for where, text := range map[string]string{"log": log.String(), "page": failure, "label": all[0].Get("owner")} {
				if name, run := searcher.Find(text); name != "" || text == "" {
					t.Errorf("%s: the %s has %q (%s): %q", form.Name, where, run, name, text)
				}
			}
		}
	}
}
