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
	for _, b := range boards(in) {
		encoded, err := b.encode(resolution(in.Traffic))
		if err != nil {
			return nil, fmt.Errorf("building the dashboard %q: %w", b.title, err)
		}
		out = append(out, Dashboard{File: b.file, UID: b.uid, Title: b.title, JSON: encoded})
	}
	return out, nil
}

func boards(in Input) []board {
	return []board{overview(in.SLOs), targetDetail(in.SLOs), proberHealth()}
}

// encode renders the dashboard and writes it as JSON.
func (b board) encode(resolution string) ([]byte, error) {
	built, err := b.build(resolution)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	// Queries are read by people, too: "<" stays "<".
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(built); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// build assembles variables, links, annotations and panels. The classic schema
// is the one that file provisioning and sidecars take; its successor, which
// the SDK prefers, is new with Grafana 12.
func (b board) build(resolution string) (any, error) {
	vars, err := variables(resolution, b.perProber)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 the classic schema is wanted, see above.
	d := dashboard.NewDashboardBuilder(b.title)
	d.Uid(b.uid).
		Description(b.about).
		Tags([]string{tag}).
		Timezone("browser").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Time("now-6h", "now").
		Refresh("1m").
		Link(made[dashboard.DashboardLink]{siblings()}).
		Annotation(alertAnnotation())
	for _, v := range vars {
		d.WithVariable(made[dashboard.VariableModel]{v})
	}
	items, err := place(b.rows)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if item.RowPanel != nil {
			d.WithRow(made[dashboard.RowPanel]{*item.RowPanel})
			continue
		}
		d.WithPanel(made[dashboard.Panel]{*item.Panel})
	}
	return d.Build()
}
