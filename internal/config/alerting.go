package config

import (
	"regexp"
	"strings"
	"time"

	"synthetic/internal/config/yamlform"
)

// Alerting is the section by which the process pages itself. Its URLs have no
// trailing slash; what is "" was not written.
type Alerting struct {
	Alertmanagers  []Alertmanager    `yaml:"alertmanagers" examples:"[{url: \"http://alertmanager:9093\"}]"`
	ExternalLabels map[string]string `yaml:"external_labels" examples:"{cluster: eu-1}"`
	ExternalURL    webURL            `yaml:"external_url" examples:"https://synthetic.example.com"`
	RunbookURL     webURL            `yaml:"runbook_url" examples:"https://git.example.com/synthetic/docs/runbooks"`
	DashboardURL   webURL            `yaml:"dashboard_url" examples:"https://grafana.example.com/d"`
	Interval       time.Duration     `yaml:"interval" default:"15s" min:"1s" max:"1m"`
	Directory      string            `yaml:"directory" examples:"/var/lib/synthetic/pager"`
}

// Alertmanager is one that is told of alerts.
type Alertmanager struct {
	URL webURL `yaml:"url" required:"true" examples:"http://alertmanager:9093"`
	Client
}

// labelKey is what names of labels must match.
var labelKey = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// labels checks names of labels.
func (b *builder) labels(path string, all map[string]string) {
	for name := range all {
		if !labelKey.MatchString(name) {
			b.Mistake(yamlform.Join(path, name), "", "is not the name of a label", "use letters, digits and _, and no digit first")
		}
	}
}

// appended says that an address has at its end what is added to it.
func (b *builder) appended(at string, url webURL, operation string) {
	if base, ok := strings.CutSuffix(string(url), operation); ok && b.Valid(at) {
		b.Mistake(at, string(url), "names the operation, which is appended by itself", "write "+yamlform.Shown(base))
	}
}

// alerting resolves the section, nil if it is not there.
func (b *builder) alerting(a Alerting) *Alerting {
	const path = "alerting"
	if !b.Has(path) {
		return nil
	}
	if a.Directory != "" {
		a.Directory = b.directory(path+".directory", a.Directory)
	}
	b.labels(path+".external_labels", a.ExternalLabels)
	for name := range a.ExternalLabels {
		if at := yamlform.Join(path+".external_labels", name); name == "alertname" || strings.HasPrefix(name, "__") {
			b.Mistake(at, "", "is a label that alerts have of themselves", "choose another name")
		}
	}
	first := map[webURL]string{}
	for i := range a.Alertmanagers {
		b.alertmanager(yamlform.Index(path+".alertmanagers", i), &a.Alertmanagers[i], first)
	}
	return &a
}

// alertmanager resolves one; first has the paths of those before it by URL.
func (b *builder) alertmanager(path string, a *Alertmanager, first map[webURL]string) {
	at, url := path+".url", string(a.URL)
	b.appended(at, a.URL, "/api/v2/alerts")
	if before := first[a.URL]; before != "" && b.Valid(at) {
		b.Mistake(at, url, "is also the address of "+before, "remove one of the two")
	}
	first[a.URL] = path
	b.serviceClient(path, a.URL, &a.Client)
}
