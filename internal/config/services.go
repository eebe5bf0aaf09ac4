package config

import (
	"regexp"
	"strings"
	"time"

	"synthetic/internal/config/yamlform"
)

// Alerting is the section of the embedded pager. An absent URL is "".
type Alerting struct {
	Alertmanagers  []alertmanager    `yaml:"alertmanagers" max:"100" examples:"[{url: \"http://alertmanager:9093\"}]"`
	ExternalLabels map[string]string `yaml:"external_labels" examples:"{cluster: eu-1}"`
	ExternalURL    webURL            `yaml:"external_url" examples:"https://synthetic.example.com"`
	RunbookURL     webURL            `yaml:"runbook_url" examples:"https://git.example.com/synthetic/docs/runbooks"`
	DashboardURL   webURL            `yaml:"dashboard_url" examples:"https://grafana.example.com/d"`
	Interval       time.Duration     `yaml:"interval" default:"15s" min:"1s" max:"1m"`
	Directory      string            `yaml:"directory" examples:"/var/lib/synthetic/pager"`
}

// alertmanager is an Alertmanager to notify.
type alertmanager struct {
	URL webURL `yaml:"url" required:"true" examples:"http://alertmanager:9093"`
	client
}

// Tracing is the section of the receiver of spans.
type Tracing struct {
	URL webURL `yaml:"url" required:"true" examples:"http://collector:4318"`
	client
}

// tracesPath is the path of spans in OTLP over HTTP.
const tracesPath = "/v1/traces"

// Endpoint returns the URL that spans are sent to.
func (t Tracing) Endpoint() string { return string(t.URL) + tracesPath }

var labelKey = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// checkLabels checks names of labels.
func checkLabels(r *reader, path string, all map[string]string) {
	for name := range all {
		if !labelKey.MatchString(name) {
			r.Mistake(yamlform.Join(path, name), "", "is not the name of a label", "use letters, digits and _, and no digit first")
		}
	}
}

// readService resolves a service at path: its URL must not include the operation, which is appended.
func readService(r *reader, path string, url webURL, operation string, c *client) {
	at := path + ".url"
	if base, _, ok := strings.Cut(string(url), operation); ok && r.Valid(at) {
		r.Mistake(at, string(url), "includes the operation, which is appended", "write "+yamlform.Shown(base))
	}
	c.HTTP, c.HTTPClient = readHTTPClient(r, path, "url", string(url), c.HTTPClient), nil
}

func readAlerting(r *reader, a Alerting) *Alerting {
	const path = "alerting"
	if !r.Has(path) {
		return nil
	}
	if a.Directory != "" {
		a.Directory = r.directory(path+".directory", a.Directory)
	}
	checkLabels(r, path+".external_labels", a.ExternalLabels)
	for name := range a.ExternalLabels {
		if at := yamlform.Join(path+".external_labels", name); name == "alertname" || strings.HasPrefix(name, "__") {
			r.Mistake(at, "", "is a label that alerts already have", "choose another name")
		}
	}
	first := map[webURL]string{}
	for i := range a.Alertmanagers {
		m, at := &a.Alertmanagers[i], yamlform.Index(path+".alertmanagers", i)
		readService(r, at, m.URL, "/api/v2/alerts", &m.client)
		if before := first[m.URL]; before != "" && r.Valid(at+".url") {
			r.Mistake(at+".url", string(m.URL), "is also the address of "+before, "remove one of the two")
		}
		first[m.URL] = at
	}
	return &a
}

func readTracing(r *reader, t Tracing) *Tracing {
	const path = "tracing"
	if !r.Has(path) {
		return nil
	}
	readService(r, path, t.URL, tracesPath, &t.client)
	return &t
}
