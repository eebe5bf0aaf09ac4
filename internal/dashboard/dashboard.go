// Package dashboard makes Grafana dashboards from the objectives and the
// metric catalog. It is pure: the same input gives the same bytes.
//
// Every query reads raw series of the catalog, so that the dashboards work
// whether the recording rules are loaded or not.
package dashboard

import (
	"bytes"
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

// Generate returns the SLO overview, the target detail and the prober health.
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
	alerts, err := alertAnnotation()
	if err != nil {
		return nil, err
	}
	// File provisioning and sidecars take the classic schema; its successor, which
	// the SDK prefers, is new with Grafana 12.
	d := dashboard.NewDashboard()
	d.Uid, d.Title, d.Description, d.Tags = &b.UID, &b.Title, &b.About, []string{tag}
	d.GraphTooltip, d.Time, d.Refresh = new(dashboard.DashboardCursorSyncCrosshair), dashboard.NewDashboardDashboardTime(), new("1m")
	d.Links, d.Annotations.List = []dashboard.DashboardLink{siblings()}, []dashboard.AnnotationQuery{alerts}
	d.Templating.List, d.Panels = variables(resolution, b.PerProber), panels
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

// alertAnnotation marks the times at which one of our alerts fired.
func alertAnnotation() (dashboard.AnnotationQuery, error) {
	return dashboard.NewAnnotationQueryBuilder().
		Name("Alerts").
		Datasource(datasource()).
		Enable(true).
		IconColor(red).
		Expr(firingAlerts).
		Step("1m").
		TitleFormat("{{alertname}}").
		TextFormat("{{slo}} {{target}} {{workload}}").
		Target(prometheus.NewDataqueryBuilder().RefId("Anno").Expr(firingAlerts).Range()).
		Build()
}
