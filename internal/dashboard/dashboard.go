// Package dashboard makes Grafana dashboards from the objectives and the
// metric catalog. It is pure: the same input gives the same bytes.
//
// Every query reads raw series of the catalog, so that the dashboards work
// whether the recording rules are loaded or not.
package dashboard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"

	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
)

// Input is what the dashboards depend on.
type Input struct {
	// SLOs, in the order of the configuration, give the overview its rows and
	// the latency panels their dashed lines.
	SLOs []slo.Objective
	// Traffic sets the initial resolution: the slower the probes, the coarser.
	// Empty stands for probes of at least one conversation every 12 seconds.
	Traffic []workload.Traffic
	// SeverityLabel is the label that tells pages from tickets and SeverityPage its
	// value for pages; "" stands for severity and page.
	SeverityLabel, SeverityPage string
}

// Severity is the label that tells pages from tickets.
func (in Input) Severity() string { return cmp.Or(in.SeverityLabel, "severity") }

// Pages matches the alerts that page.
func (in Input) Pages() string {
	return fmt.Sprintf("%s=%q", in.Severity(), cmp.Or(in.SeverityPage, "page"))
}

// Dashboard is one generated dashboard.
type Dashboard struct {
	// File is the file's name, for example "slo-overview.json".
	File string
	// UID identifies the dashboard in Grafana and in links.
	UID, Title string
	// JSON is the dashboard in Grafana's classic schema, indented, with a
	// newline at the end.
	JSON []byte
}

// Generate returns the overview, the fleet, the target detail, the prober health and
// the study.
// The error names the dashboard that could not be built.
func Generate(in Input) ([]Dashboard, error) {
	var out []Dashboard
	all, err := boards(in)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		encoded, err := b.encode(resolution(in.Traffic))
		if err != nil {
			return nil, fmt.Errorf("building the dashboard %q: %w", b.Title, err)
		}
		out = append(out, Dashboard{File: b.File + ".json", UID: b.UID, Title: b.Title, JSON: encoded})
	}
	return out, nil
}

// encode renders the dashboard and writes it as JSON.
func (b board) encode(resolution string) ([]byte, error) {
	panels, err := place(b.Rows)
	if err != nil {
		return nil, err
	}
	var marks []dashboard.AnnotationQuery
	for _, m := range b.Marks {
		built, err := m.render()
		if err != nil {
			return nil, err
		}
		marks = append(marks, built)
	}
	// File provisioning and sidecars take the classic schema; its successor, which
	// the SDK prefers, is new with Grafana 12.
	d := dashboard.NewDashboard()
	d.Uid, d.Title, d.Description, d.Tags = &b.UID, &b.Title, &b.About, []string{tag}
	d.GraphTooltip, d.Time, d.Refresh = new(dashboard.DashboardCursorSyncCrosshair), dashboard.NewDashboardDashboardTime(), new("1m")
	d.Links, d.Annotations.List = []dashboard.DashboardLink{siblings()}, marks
	d.Templating.List, d.Panels = b.variables(resolution), panels
	if err := d.Validate(); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	// Queries are read by people, too: "<" stays "<".
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// siblings links to every dashboard with our tag and takes the time range and
// the variables along.
func siblings() dashboard.DashboardLink {
	return dashboard.DashboardLink{
		Title:       "Synthetic",
		Type:        dashboard.DashboardLinkTypeDashboards,
		Icon:        "external link",
		Tooltip:     "The other dashboards, with the same time range and selection",
		Tags:        []string{tag},
		IncludeVars: true,
		KeepTime:    true,
	}
}

// render makes the annotation. Samples that are not next to each other are lines;
// those that are would be a filled region, through which no curve is seen.
func (m mark) render() (dashboard.AnnotationQuery, error) {
	return dashboard.NewAnnotationQueryBuilder().
		Name(m.Name).
		Datasource(datasource()).
		Enable(true).
		IconColor(m.Color).
		Expr(m.Expr).
		Step("1m").
		TitleFormat(m.Name).
		TextFormat(m.Text).
		Target(prometheus.NewDataqueryBuilder().RefId("Anno").Expr(m.Expr).Interval("1m").Range()).
		Build()
}
