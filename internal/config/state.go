package config

import (
	"strings"

	"synthetic/internal/config/yamlform"
)

// State is the section with the source of history.
type State struct {
	Prometheus Prometheus `yaml:"prometheus" examples:"{url: \"http://prometheus:9090\"}"`
}

// Prometheus is one that has recorded the series of earlier processes.
type Prometheus struct {
	URL    webURL            `yaml:"url" required:"true" examples:"http://prometheus:9090"`
	Labels map[string]string `yaml:"labels" examples:"{cluster: eu-1}"`
	Client
}

// state resolves the section; the Prometheus is nil if it is not there.
func (b *builder) state(p Prometheus) *Prometheus {
	const path = "state.prometheus"
	if !b.Has(path) {
		return nil
	}
	at, url := path+".url", string(p.URL)
	if base, _, ok := strings.Cut(url, "/api/v1"); ok && b.Valid(at) {
		b.Mistake(at, url, "names an operation, which is appended by itself", "write "+yamlform.Shown(base))
	}
	b.labels(path+".labels", p.Labels)
	b.serviceClient(path, p.URL, &p.Client)
	return &p
}
