package serverside

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/study/runfile"
)

// settingsOf reads a family that describes the configuration, from its labels, or from its
// value if the labels only identify its source.
func settingsOf(name string, mf *dto.MetricFamily) []runfile.Parameter {
	var out []runfile.Parameter
	for _, m := range mf.Metric {
		if !strings.HasSuffix(name, "_info") {
			v := strconv.FormatFloat(valueOf(m), 'f', -1, 64)
			out = append(out, runfile.Parameter{Name: inWords(name), Value: v})
			continue
		}
		for _, l := range m.Label {
			whose := slices.Contains([]string{"engine", "model_name", "worker_id", "instance", "pid"}, l.GetName())
			if !whose && l.GetValue() != "None" {
				out = append(out, runfile.Parameter{Name: inWords(l.GetName()), Value: l.GetValue()})
			}
		}
	}
	return out
}

// inWords returns the name of a metric without its prefix, or of a label, in words.
func inWords(name string) string {
	for _, e := range engines() {
		name = strings.TrimPrefix(name, e.prefix)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// Describe reads the model list, the version and the configuration of a deployment. It leaves
// out what the deployment does not provide.
func (c *Client) Describe(ctx context.Context, variant string, metricsURLs []string) []runfile.Parameter {
	d := &description{variant: variant}
	c.models(ctx, d)
	var v struct {
		Version string `json:"version"`
	}
	// The version path is beside that of the API, not below it.
	if c.json(ctx, strings.TrimSuffix(c.target.BaseURL, "/v1")+"/version", &v) {
		d.add("Server version", v.Version, "/version")
	}
	for _, u := range metricsURLs {
		if s, err := c.Scrape(ctx, u); err == nil {
			d.configuration(s)
		}
	}
	return d.lines
}

type description struct {
	variant string
	lines   []runfile.Parameter
}

func (d *description) add(name, value, source string) {
	taken := slices.ContainsFunc(d.lines, func(p runfile.Parameter) bool { return p.Name == name && p.Value == value })
	if value != "" && !taken {
		d.lines = append(d.lines, runfile.Parameter{Name: name, Value: value, Source: source, Variant: d.variant})
	}
}

func (c *Client) models(ctx context.Context, d *description) {
	var list struct {
		Data []struct {
			ID          string `json:"id"`
			Root        string `json:"root"`
			MaxModelLen int    `json:"max_model_len"`
		} `json:"data"`
	}
	if !c.json(ctx, c.target.BaseURL+"/models", &list) {
		return
	}
	for _, m := range list.Data {
		if c.target.Model != "" && m.ID != c.target.Model {
			continue
		}
		d.add("Model", m.ID, "/v1/models")
		if m.Root != m.ID {
			d.add("Model root", m.Root, "/v1/models")
		}
		if m.MaxModelLen > 0 {
			d.add("max-model-len", strconv.Itoa(m.MaxModelLen), "/v1/models")
		}
	}
}

// configuration adds the settings in the metrics, and the engine they belong to.
func (d *description) configuration(s Sample) {
	for _, l := range s.settings {
		d.add(l.Name, l.Value, "/metrics")
	}
	for _, e := range engines() {
		n, of := 0, 0
		for _, f := range families() {
			if strings.HasPrefix(f.name, e.prefix) {
				of++
				if slices.Contains(s.Families, f.name) {
					n++
				}
			}
		}
		if n > 0 {
			d.add("Server metrics", fmt.Sprintf("%s, %d of %d families", e.name, n, of), "/metrics")
		}
	}
}

// json decodes a page into v, and reports whether that worked.
func (c *Client) json(ctx context.Context, page string, v any) bool {
	return nil == c.get(ctx, page, func(_ context.Context, body io.Reader) error {
		return json.NewDecoder(io.LimitReader(body, maxDescription)).Decode(v)
	})
}
