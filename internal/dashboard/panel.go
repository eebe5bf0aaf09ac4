package dashboard

import (
	"cmp"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// row is a row of panels, which flow from left to right and wrap. Without a title it has no
// header; if collapsed, its panels are loaded when it is opened.
type row struct {
	Title     string
	Collapsed bool
	Panels    []panel
}

type panel struct {
	Title, Unit string
	// Description: what the panel shows, how to read it, and what to do about bad values.
	Says, Read, Act string
	// The kind of panel. At most one is set; none means Graph.
	Graph    graphView
	Stat     *statView
	Table    *tableView
	Timeline *timelineView
	Heatmap  bool
	// Width and Height in Grafana's grid of 24 columns, with rows of about 36 pixels; 0 means
	// 12 by 8.
	Width, Height uint32
	Queries       []query
	// Levels colour values from the given one up; the first has no value.
	Levels []level
	// Empty is shown if the queries return nothing.
	Empty string
	// ToTarget links a series with a target label to the target's detail.
	ToTarget bool `yaml:"to_target"`
}

type level struct {
	From  float64
	Color string
}

type query struct {
	Expr, Legend string
	// Exemplars requests samples with trace ids.
	Exemplars bool
	// Trend shows a table column as a line over the time range.
	Trend bool
}

// view builds the panels of one kind, such as a table. render adds the settings that panels of
// all kinds share.
type view interface {
	draw(p panel) (dashboard.Panel, error)
	// ask sets how the panel's queries are sent to Prometheus.
	ask(q *prometheus.DataqueryBuilder)
}

func (p panel) view() view {
	switch {
	case p.Stat != nil:
		return *p.Stat
	case p.Table != nil:
		return *p.Table
	case p.Timeline != nil:
		return *p.Timeline
	case p.Heatmap:
		return heatmapView{}
	}
	return p.Graph
}

const gridColumns = 24

// place numbers and positions the panels of each row.
func place(rows []row) ([]dashboard.PanelOrRowPanel, error) {
	var out []dashboard.PanelOrRowPanel
	var id, y uint32
	for _, r := range rows {
		var header *dashboard.RowPanel
		if r.Title != "" {
			id++
			header = r.header(id, y)
			out = append(out, dashboard.PanelOrRowPanel{RowPanel: header})
			y++
		}
		var x, tallest uint32
		for _, p := range r.Panels {
			at := dashboard.GridPos{W: cmp.Or(p.Width, 12), H: cmp.Or(p.Height, 8)}
			if x+at.W > gridColumns {
				x, y, tallest = 0, y+tallest, 0
			}
			at.X, at.Y = x, y
			id++
			built, err := p.render(id, at)
			if err != nil {
				return nil, fmt.Errorf("panel %q: %w", p.Title, err)
			}
			if r.Collapsed {
				header.Panels = append(header.Panels, built)
			} else {
				out = append(out, dashboard.PanelOrRowPanel{Panel: &built})
			}
			x, tallest = x+at.W, max(tallest, at.H)
		}
		y += tallest
	}
	return out, nil
}

func (r row) header(id, y uint32) *dashboard.RowPanel {
	h := dashboard.NewRowPanel()
	h.Id, h.Title, h.Collapsed = id, &r.Title, r.Collapsed
	h.GridPos = &dashboard.GridPos{X: 0, Y: y, W: gridColumns, H: 1}
	return h
}

func (p panel) render(id uint32, at dashboard.GridPos) (dashboard.Panel, error) {
	out, err := p.view().draw(p)
	if err != nil {
		return dashboard.Panel{}, err
	}
	out.Id, out.GridPos, out.Title = &id, &at, &p.Title
	out.Description = new(p.Says + "\n\n**Read:** " + p.Read + "\n\n**Act:** " + p.Act)
	out.Datasource, out.Interval = new(datasource()), new("$"+varResolution)
	fields := &out.FieldConfig.Defaults
	fields.Unit = &p.Unit
	if p.ToTarget {
		fields.Links = []dashboard.DashboardLink{toTarget("__field.labels.")}
	}
	if p.Empty != "" {
		fields.NoValue = &p.Empty
	}
	for i, q := range p.Queries {
		target, err := p.build(q, i)
		if err != nil {
			return dashboard.Panel{}, err
		}
		out.Targets = append(out.Targets, target)
	}
	return out, nil
}

// build returns the Grafana query. $__rate_interval is four times the min step; the panel's min
// interval alone would not change it.
func (p panel) build(q query, i int) (variants.Dataquery, error) {
	b := prometheus.NewDataqueryBuilder().
		RefId(refID(i)).
		EditorMode(prometheus.QueryEditorModeCode).
		Expr(q.Expr).
		LegendFormat(q.Legend).
		Interval("$" + varResolution)
	if q.Exemplars {
		b.Exemplar(true)
	}
	if q.Trend {
		graphView{}.ask(b)
	} else {
		p.view().ask(b)
	}
	return b.Build()
}

func refID(i int) string { return string(rune('A' + i)) }

func datasource() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${" + varDatasource + "}")}
}

// toTarget links to the detail of the clicked target and workload, whose values Grafana
// provides under a prefix.
func toTarget(under string) dashboard.DashboardLink {
	url := fmt.Sprintf("/d/%s?${__url_time_range}&${%s:queryparam}&var-%[3]s=${%[5]s%[3]s}&var-%[4]s=${%[5]s%[4]s}",
		TargetUID, varDatasource, varTarget, varWorkload, under)
	return dashboard.DashboardLink{
		Title: "Detail of ${" + under + varTarget + "}",
		Type:  dashboard.DashboardLinkTypeLink,
		Tags:  []string{},
		Url:   &url,
	}
}
