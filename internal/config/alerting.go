package config

import (
	"os"
	"regexp"
	"strings"
	"time"

	"synthetic/internal/probe/target"
	"synthetic/internal/yamlform"
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
	TLS                                     target.TLS
}

// labelKey is what names of labels must match.
var labelKey = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// alerting resolves the section, nil if it is not there.
func (b *builder) alerting(f fileAlerting) *Alerting {
	const path = "alerting"
	if !b.Has(path) {
		return nil
	}
	out := &Alerting{
		ExternalLabels: f.ExternalLabels,
		ExternalURL:    string(f.ExternalURL), RunbookURL: string(f.RunbookURL), DashboardURL: string(f.DashboardURL),
		Interval: f.Interval, Retention: f.Retention,
		MaxSeries: f.MaxSeries,
	}
	if at := path + ".directory"; f.Directory != "" && b.Fine(at) {
		out.Directory = b.resolve(f.Directory)
		if info, err := os.Stat(out.Directory); err == nil && !info.IsDir() {
			b.Mistake(at, f.Directory, "is not a directory", "name a directory, or a path where one can be made")
		}
	}
	for name := range f.ExternalLabels {
		at := yamlform.Join(path+".external_labels", name)
		switch {
		case !labelKey.MatchString(name):
			b.Mistake(at, "", "is not the name of a label", "use letters, digits and _, and no digit first")
		case name == "alertname" || strings.HasPrefix(name, "__"):
			b.Mistake(at, "", "is a label that alerts have of themselves", "choose another name")
		}
	}
	first := map[string]string{}
	for i, a := range f.Alertmanagers {
		out.Alertmanagers = append(out.Alertmanagers, b.alertmanager(yamlform.Index(path+".alertmanagers", i), a, first))
	}
	return out
}

// alertmanager resolves one; first has the paths of those before it by URL.
func (b *builder) alertmanager(path string, a fileAlertmanager, first map[string]string) Alertmanager {
	at := path + ".url"
	url := string(a.URL)
	if base, ok := strings.CutSuffix(url, "/api/v2/alerts"); ok && b.Fine(at) {
		b.Mistake(at, url, "names the operation, which is appended by itself", "write "+base)
	}
	if before := first[url]; before != "" && b.Fine(at) {
		b.Mistake(at, url, "is also the address of "+before, "remove one of the two")
	}
	first[url] = path
	return Alertmanager{
		URL: url, Timeout: a.Timeout,
		Username:        a.BasicAuth.Username,
		PasswordFile:    b.file(path+".basic_auth.password_file", a.BasicAuth.PasswordFile, true),
		BearerTokenFile: b.file(path+".bearer_token_file", a.BearerTokenFile, true),
		TLS:             b.tls(path, "url", url, a.TLS),
	}
}
