// Package dashboard generates Grafana dashboards from the objectives and the metric catalog. It
// is pure: the same input gives the same bytes.
//
// Queries read raw series of the catalog, so the dashboards also work without the recording
// rules.
package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"

	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
)

// Input is everything that the dashboards depend on.
type Input struct {
	// SLOs, in the order of the configuration, determine the rows of the overview and the
	// threshold lines of latency panels.
	SLOs []slo.Objective
	// Traffic determines the initial resolution: coarser for slower probes. Empty means at
	// least one conversation every 12 seconds.
	Traffic []workload.Traffic
	// RunbookURL is the address of docs/runbooks; "" for none.
	RunbookURL string
}

// Runbook returns the address of the runbook of a table's alert; "" if it is unknown.
func (in Input) Runbook() string {
	if in.RunbookURL == "" {
		return ""
	}
	return strings.TrimSuffix(in.RunbookURL, "/") + "/${__data.fields.alertname}.md"
}

// Dashboard is one generated dashboard.
type Dashboard struct {
	// File is the file name, such as "slo-overview.json".
	File string
	// UID identifies the dashboard in Grafana and in links.
	UID, Title string
	// JSON is the dashboard in Grafana's classic schema, indented, with a final newline.
	JSON []byte
}

// Generate returns the overview, the fleet, the target detail, and the prober health.
// An error names the dashboard.
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
	// Grafana's file provisioning and the dashboard sidecar of its Helm chart need the classic
	// schema. The schema that the SDK prefers needs Grafana 12.
	d := dashboard.NewDashboard()
	d.Uid, d.Title, d.Description, d.Tags = &b.UID, &b.Title, &b.About, []string{tag}
	d.GraphTooltip, d.Refresh = new(dashboard.DashboardCursorSyncCrosshair), new("1m")
	d.Time = &dashboard.DashboardDashboardTime{From: "now-1h", To: "now"}
	d.Links, d.Annotations.List = []dashboard.DashboardLink{toOtherDashboards()}, marks
	d.Templating.List, d.Panels = b.variables(resolution), panels
	if err := d.Validate(); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	// People read the queries, so "<" must stay "<".
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// toOtherDashboards links to every dashboard with our tag, with the current time range and variables.
func toOtherDashboards() dashboard.DashboardLink {
	return dashboard.DashboardLink{
		Title:       "Synthetic",
		Type:        dashboard.DashboardLinkTypeDashboards,
		Icon:        "external link",
		Tooltip:     "The other dashboards, with the same time range and selection",
		Tags:        []string{tag},
		IncludeVars: true,
		KeepTime:    true,
		AsDropdown:  true, // on the line of the variables
	}
}

// render returns the annotation. Single samples become lines; adjacent ones would become a
// filled region that hides curves.
func (m mark) render() (dashboard.AnnotationQuery, error) {
	return dashboard.NewAnnotationQueryBuilder().
		Name(m.Name).
		Datasource(datasource()).
		Enable(true).
		Hide(true). // of its toggle
		IconColor(m.Color).
		Expr(m.Expr).
		Step("1m").
		TitleFormat(m.Name).
		TextFormat(m.Text).
		Target(prometheus.NewDataqueryBuilder().RefId("Anno").Expr(m.Expr).Interval("1m").Range()).
		Build()
}

// UIDs of the dashboards: part of every link to them, so they never change.
const (
	overviewUID = "synthetic-slo-overview"
	TargetUID   = "synthetic-target-detail"
	HealthUID   = "synthetic-prober-health"
	fleetUID    = "synthetic-fleet"
)

// tag marks our dashboards; the links between them select by it.
const tag = "synthetic"

// Names of the dashboards' variables. A variable that selects by a label has the name of the label.
const (
	varDatasource = "datasource"
	varTarget     = "target"
	varWorkload   = "workload"
	varInstance   = "instance"
	varResolution = "resolution"
)
