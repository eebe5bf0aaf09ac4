package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	promconfig "github.com/prometheus/common/config"
)

// Alerting says how the process pages by itself.
type Alerting struct {
	Alertmanagers  []Alertmanager
	ExternalLabels map[string]string
	// ExternalURL, RunbookURL and DashboardURL have no trailing slash; "" is
	// none.
	ExternalURL, RunbookURL, DashboardURL string
	Interval, Retention                   time.Duration
	MaxSeries                             int
	// Directory is "" for a temporary one.
	Directory string
}

// Alertmanager is one that is told of alerts.
type Alertmanager struct {
	URL     string // without a trailing slash
	Timeout time.Duration
	// Username and PasswordFile, or BearerTokenFile, or none of them.
	Username, PasswordFile, BearerTokenFile string
	TLS                                     promconfig.TLSConfig
}

// labelKey is what names of labels must match.
var labelKey = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// alerting resolves the section, nil if it is not there.
func (b *builder) alerting(f fileAlerting) *Alerting {
	const path = "alerting"
	if !b.has(path) {
		return nil
	}
	out := &Alerting{
		ExternalLabels: f.ExternalLabels,
		ExternalURL:    string(f.ExternalURL), RunbookURL: string(f.RunbookURL), DashboardURL: string(f.DashboardURL),
		Interval: time.Duration(f.Interval), Retention: time.Duration(f.Retention),
		MaxSeries: f.MaxSeries, Directory: b.directory(path+".directory", f.Directory),
	}
	for name := range f.ExternalLabels {
		at := join(path+".external_labels", shownKey(name))
		switch {
		case !labelKey.MatchString(name):
			b.mistake(at, "", "is not the name of a label", "use letters, digits and _, and no digit first")
		case name == "alertname" || strings.HasPrefix(name, "__"):
			b.mistake(at, "", "is a label that alerts have of themselves", "choose another name")
		}
	}
	first := map[string]string{}
	for i, a := range f.Alertmanagers {
		out.Alertmanagers = append(out.Alertmanagers, b.alertmanager(index(path+".alertmanagers", i), a, first))
	}
	return out
}

// alertmanager resolves one; first has the paths of those before it by URL.
func (b *builder) alertmanager(path string, a fileAlertmanager, first map[string]string) Alertmanager {
	at := path + ".url"
	url := string(a.URL)
	if base, ok := strings.CutSuffix(url, "/api/v2/alerts"); ok && b.fine(at) {
		b.mistake(at, shown(url), "names the operation, which is appended by itself", "write "+shown(base))
	}
	if before := first[url]; before != "" && b.fine(at) {
		b.mistake(at, shown(url), "is also the address of "+before, "remove one of the two")
	}
	first[url] = path
	return Alertmanager{
		URL: url, Timeout: time.Duration(a.Timeout),
		Username:        a.BasicAuth.Username,
		PasswordFile:    b.file(path+".basic_auth.password_file", a.BasicAuth.PasswordFile, true),
		BearerTokenFile: b.file(path+".bearer_token_file", a.BearerTokenFile, true),
		TLS:             b.tls(path, "url", url, a.TLS),
	}
}

// directory resolves the path of a directory that need not be there yet.
func (b *builder) directory(at, path string) string {
	if path == "" || !b.fine(at) {
		return path
	}
	full := path
	if !filepath.IsAbs(path) {
		full = filepath.Join(b.dir, path)
	}
	if info, err := os.Stat(full); err == nil && !info.IsDir() {
		b.mistake(at, shown(path), "is not a directory", "name a directory, or a path where one can be made")
	}
	return full
}
