package config

import (
	"cmp"
	"time"

	"synthetic/internal/probe/target"
)

// targets resolves the targets, and names those that have no name.
func (b *builder) targets(in []fileTarget) []target.Target {
	taken := map[string]string{}
	out := make([]target.Target, len(in))
	for i, t := range in {
		path := index("targets", i)
		out[i] = b.endpoint(path, t.fileEndpoint)
		out[i].Connection = target.Connection(t.Connection)
		out[i].Extra = b.extraBody(path+".extra_body", t.ExtraBody)
		out[i].Name = cmp.Or(t.Name, t.BaseURL.name())
		if out[i].Name != "" {
			b.name(path, out[i].Name, "target", taken)
		}
	}
	return out
}

// endpoint resolves how to reach an API.
func (b *builder) endpoint(path string, e fileEndpoint) target.Target {
	return target.Target{
		BaseURL:       string(e.BaseURL),
		Model:         e.Model,
		Key:           b.key(path, e),
		Headers:       b.headers(path+".headers", e.Headers),
		HTTP:          b.httpClient(path, e),
		Connection:    target.Reuse,
		ModelsTimeout: time.Duration(e.ModelsTimeout),
	}
}
