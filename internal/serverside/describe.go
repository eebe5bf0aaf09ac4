package serverside

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/study/runfile"
)

// setting is one line of a deployment's configuration.
type setting struct{ name, value string }

// settingsOf reads a family that tells the configuration: from its labels, or
// from its value where the labels only say whose it is.
func settingsOf(name string, mf *dto.MetricFamily) []setting {
	var out []setting
	add := func(s setting) {
		if s.value != "" && s.value != "None" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, m := range mf.Metric {
		if !strings.HasSuffix(name, "_info") {
			v := m.GetGauge().GetValue() + m.GetUntyped().GetValue() + m.GetCounter().GetValue()
			add(setting{plain(name), strconv.FormatFloat(v, 'f', -1, 64)})
			continue
		}
		for _, l := range m.Label {
			if !slices.Contains([]string{"engine", "model_name", "worker_id", "instance", "pid"}, l.GetName()) {
				add(setting{strings.ReplaceAll(l.GetName(), "_", " "), l.GetValue()})
			}
		}
	}
	return out
}

// plain is a metric's name without its prefix, in words.
func plain(name string) string {
	for _, prefix := range []string{"vllm:", "sglang:", "trtllm_", "dynamo_frontend_"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// Describe asks a deployment what it is: its model list, its version and the
// configuration among its metrics. What it does not say is left out.
func (c *Client) Describe(ctx context.Context, variant string, metricsURLs []string) []runfile.Parameter {
	d := &description{variant: variant}
	c.models(ctx, d)
	var v struct {
		Version string `json:"version"`
	}
	// The version stands beside the path of the API, not below it.
	if c.json(ctx, strings.TrimSuffix(c.target.BaseURL, "/v1")+"/version", &v) == nil {
		d.add("Server version", v.Version, "/version")
	}
	for _, u := range metricsURLs {
		if s, err := c.Scrape(ctx, u); err == nil {
			d.configuration(s)
		}
	}
	return d.lines
}

// description gathers lines, each name once.
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
	if c.json(ctx, c.target.BaseURL+"/models", &list) != nil {
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

// configuration is what the metrics tell of it, and which engine's they are.
func (d *description) configuration(s Sample) {
	for _, l := range s.labels {
		d.add(l.name, l.value, "/metrics")
	}
	for _, e := range engines() {
		n := 0
		for _, f := range e.families {
			if slices.Contains(s.Families, f.name) {
				n++
			}
		}
		if n > 0 {
			d.add("Server metrics", fmt.Sprintf("%s, %d of %d families", e.name, n, len(e.families)), "/metrics")
		}
	}
}

func (c *Client) json(ctx context.Context, u string, v any) error {
	body, err := c.get(ctx, u)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}
