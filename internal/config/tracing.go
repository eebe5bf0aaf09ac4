package config

// Tracing is where spans are exported to.
type Tracing struct {
	URL webURL `yaml:"url" required:"true" examples:"http://collector:4318"`
	Client
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
	b.serviceClient(path, t.URL, &t.Client)
	return &t
}

// Endpoint is where spans are sent.
func (t Tracing) Endpoint() string { return string(t.URL) + tracesPath }
