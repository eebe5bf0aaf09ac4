package config

import (
	"strings"
	"time"

	"synthetic/internal/yamlform"
)

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
	at, url := path+".url", string(t.URL)
	if base, ok := strings.CutSuffix(url, tracesPath); ok && b.Fine(at) {
		b.Mistake(at, url, "names the operation, which is appended by itself", "write "+yamlform.Shown(base))
	}
	b.access(path, url, &t.Access)
	return &t
}

// Endpoint is where spans are sent.
func (t Tracing) Endpoint() string { return string(t.URL) + tracesPath }
