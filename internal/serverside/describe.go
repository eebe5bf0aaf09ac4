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

	"synthetic/internal/redact"
)

// Setting is a line of a deployment's description.
type Setting struct {
	Name, Value string
	Source      string // where it was read ("/v1/models")
}

// settingsOf reads the labels of a family that describes the configuration, except those that
// only identify its source. A family without such labels is read by its value.
func settingsOf(name string, mf *dto.MetricFamily) []Setting {
	sources := []string{"engine", "model_name", "worker_id", "instance", "pid"}
	var out []Setting
	for _, m := range mf.Metric {
		if !strings.HasSuffix(name, "_info") {
			v := strconv.FormatFloat(valueOf(m), 'f', -1, 64)
			out = append(out, Setting{Name: settingName(name), Value: v})
			continue
		}
		for _, l := range m.Label {
			if !slices.Contains(sources, l.GetName()) && l.GetValue() != "None" {
				out = append(out, Setting{Name: settingName(l.GetName()), Value: l.GetValue()})
			}
		}
	}
	return out
}

// settingName converts the name of a metric or label to words, without the engine's prefix.
func settingName(name string) string {
	for _, e := range engines() {
		name = strings.TrimPrefix(name, e.prefix)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// Describe reads the model list, the version and the configuration of a deployment. It omits
// everything that the deployment does not provide.
func (c *Client) Describe(ctx context.Context, metricsURLs []string) []Setting {
	d := new(description)
	c.describeModels(ctx, d)
	var v struct {
		Version string `json:"version"`
	}
	// The version has a path beside that of the API, not below it.
	if c.getJSON(ctx, strings.TrimSuffix(c.target.BaseURL, "/v1")+"/version", &v) {
		d.add("Server version", v.Version, "/version")
	}
	for _, u := range metricsURLs {
		if s, err := c.Scrape(ctx, u); err == nil {
			d.addMetrics(s)
		}
	}
	return *d
}

type description []Setting

// add adds a setting without secrets, unless it is empty or already exists.
func (d *description) add(name, value, source string) {
	name, value = redact.Text(name), redact.Text(value)
	exists := slices.ContainsFunc(*d, func(p Setting) bool { return p.Name == name && p.Value == value })
	if value != "" && !exists {
		*d = append(*d, Setting{Name: name, Value: value, Source: source})
	}
}

func (c *Client) describeModels(ctx context.Context, d *description) {
	var list struct {
		Data []struct {
			ID          string `json:"id"`
			Root        string `json:"root"`
			MaxModelLen int    `json:"max_model_len"`
		} `json:"data"`
	}
	if !c.getJSON(ctx, c.target.BaseURL+"/models", &list) {
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

// addMetrics adds the settings in the metrics, and the number of known families per engine.
func (d *description) addMetrics(s Sample) {
	for _, p := range s.settings {
		d.add(p.Name, p.Value, "/metrics")
	}
	for _, e := range engines() {
		found, known := 0, 0
		for _, f := range families() {
			if strings.HasPrefix(f.name, e.prefix) {
				known++
				if slices.Contains(s.Families, f.name) {
					found++
				}
			}
		}
		if found > 0 {
			d.add("Server metrics", fmt.Sprintf("%s, %d of %d families", e.name, found, known), "/metrics")
		}
	}
}

// getJSON decodes a page into v. It returns false on any error.
func (c *Client) getJSON(ctx context.Context, page string, v any) bool {
	return nil == c.get(ctx, page, func(_ context.Context, body io.Reader) error {
		return json.NewDecoder(io.LimitReader(body, maxDescription)).Decode(v)
	})
}
