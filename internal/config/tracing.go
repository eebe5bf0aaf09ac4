package config

import "time"

// Tracing is where spans are exported to.
type Tracing struct {
	URL     webURL        `yaml:"url" required:"true" examples:"http://collector:4318"`
	Ratio   float64       `yaml:"ratio" default:"1" above:"0" max:"1"`
	Timeout time.Duration `yaml:"timeout" default:"10s" min:"100ms" max:"1m"`
	Access
}

// tracesPath is where a receiver takes spans.
const tracesPath = "/v1/traces"

// tracing resolves the section, nil if it is not there.
func (b *builder) tracing(t Tracing) *Tracing {
	const path = "tracing"
	if !b.Has(path) {
		return nil
	}
	b.appended(path+".url", t.URL, tracesPath)
	b.access(path, string(t.URL), &t.Access)
	return &t
}

// Endpoint is where spans are sent.
func (t Tracing) Endpoint() string { return string(t.URL) + tracesPath }
