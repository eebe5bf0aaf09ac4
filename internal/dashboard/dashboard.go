// Package dashboard generates three Grafana dashboards with Grafana's own SDK: the overview of all
// targets, the detail of one target, and the probers. It is pure: the same input gives the same bytes.
package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"

	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

// Input is everything that the dashboards depend on.
type Input struct {
	// SLOs determine the threshold lines of latency charts.
	SLOs []slo.Objective
	// RunbookURL is the address of docs/runbooks; "" for none.
	RunbookURL string
	// KeepLabels are labels that the scrape adds, such as cluster, namespace or job. Each has a variable, and
	// targets of the same name stay apart by them.
	KeepLabels []string
	// UIDPrefix begins the UIDs and tags, so that two installations fit into one Grafana.
	UIDPrefix string
}

// Dashboard is one generated dashboard: its file name, such as "overview.json", what identifies it in Grafana and in
// links, and its JSON in Grafana's classic schema.
type Dashboard struct {
	File, UID, Title string
	JSON             []byte
}

// UIDs of the dashboards: part of every link to them, so they never change.
const overviewUID, TargetUID, ProberUID = "synthetic-overview", rules.TargetUID, rules.ProberUID

// Generate returns the overview, the detail of a target, and the probers. An error names the dashboard.
func Generate(in Input) ([]Dashboard, error) {
	var out []Dashboard
	for _, build := range []func(Input) *board{overview, targetDetail, probers} {
		b := build(in)
		encoded, err := b.encode()
		if err != nil {
			return nil, fmt.Errorf("building the dashboard %q: %w", b.title, err)
		}
		out = append(out, Dashboard{File: strings.TrimPrefix(b.uid, "synthetic-") + ".json", UID: in.UIDPrefix + b.uid, Title: b.title, JSON: encoded})
	}
	return out, nil
}

// board collects the panels of a dashboard. Panels flow from left to right and wrap.
type board struct {
	*dashboard.DashboardBuilder
	in         Input
	uid, title string
	scope      scope
	panels     uint32 // so far
	err        error  // the queries that cannot be parsed
}

func newBoard(in Input, uid, title, about string, variables ...string) *board {
	title = strings.TrimSpace("Synthetic "+strings.Trim(in.UIDPrefix, "-_ ")) + " / " + title
	//lint:ignore SA1019 Grafana before 12, its file provisioning and the sidecar of its Helm chart need the classic schema.
	b := &board{DashboardBuilder: dashboard.NewDashboardBuilder(title), in: in, uid: uid, title: title}
	tag := in.UIDPrefix + "synthetic" // by which the links select
	variables = slices.DeleteFunc(variables, func(v string) bool { return slices.Contains(in.KeepLabels, v) })
	b.scope = scope{variables: variables, one: uid == TargetUID, keep: in.KeepLabels}
	b.Uid(in.UIDPrefix+uid).Description(about).Tags([]string{tag}).
		Tooltip(dashboard.DashboardCursorSyncCrosshair).Refresh("30s").Time("now-1h", "now").
		Link(dashboard.NewDashboardLinkBuilder("Synthetic").Type(dashboard.DashboardLinkTypeDashboards).Icon("external link").
			Tooltip("The other dashboards, with the same time range and selection").Tags([]string{tag}).IncludeVars(true).KeepTime(true).AsDropdown(true))
	b.addVariables()
	b.mark("Incident begins", red, paged+" unless "+pagedBefore)
	b.mark("Incident is over", green, pagedBefore+" unless "+paged)
	return b
}

// The pages of targets in one series each, now and one step earlier.
const (
	paged       = `max by (target, workload) (ALERTS{alertname=~"Synthetic.*",alertstate="firing",severity="page",target!=""})`
	pagedBefore = `max by (target, workload) (ALERTS{alertname=~"Synthetic.*",alertstate="firing",severity="page",target!=""} offset $__interval)`
)

// mark adds an annotation: a thin line at each sample of its query. Adjacent samples would become a filled region
// that hides curves.
func (b *board) mark(name, color, expr string) {
	expr = b.scoped(expr)
	b.Annotation(dashboard.NewAnnotationQueryBuilder().Name(name).Datasource(source()).Enable(true).Hide(true). // its toggle
															IconColor(color).Expr(expr).Step("1m").TitleFormat(name).TextFormat("{{target}} {{workload}}").
															Target(prometheus.NewDataqueryBuilder().RefId("Anno").Expr(expr).Interval("1m").Range()))
}

func (b *board) encode() ([]byte, error) {
	built, err := b.Build()
	if err := errors.Join(b.err, err); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // people read the queries
	enc.SetIndent("", "  ")
	err = enc.Encode(built)
	return buf.Bytes(), err
}
