package dashboard

import (
	"cmp"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// row is a titled band of panels, which flow from left to right and wrap.
type row struct {
	title string
	// repeat names the variable for each of whose values the row is drawn.
	repeat string
	panels []panel
}

// panel is one panel before it is rendered.
type panel struct {
	title, unit string
	// The description: what the panel says, how to read it, and what to do when
	// it looks bad.
	says, read, act string
	// view is the kind of panel; nil is a graphView.
	view view
	// width and height are in Grafana's grid of 24 columns, of which a row is
	// about 36 pixels; 0 is 12 by 8.
	width, height uint32
	queries       []query
	// levels colour the value from the given one up; the first has no value.
	levels []level
	// empty is shown when the queries return nothing.
	empty string
	// links lead from a series to another dashboard.
	links []dashboard.DashboardLink
}

// level is a colour from a value upwards.
type level struct {
	from  float64
	color string
}

// query is one PromQL query of a panel.
type query struct {
	expr, legend string
	// exemplars asks for the samples that carry trace ids.
	exemplars bool
}

// view draws a kind of panel. Settings that all kinds share are render's.
type view interface {
	draw(p panel) (dashboard.Panel, error)
	// ask says how a query of such a panel is put to Prometheus.
	ask(q *prometheus.DataqueryBuilder)
}

// gridColumns is the width of Grafana's grid.
const gridColumns = 24

// place numbers and positions the panels of each row.
func place(rows []row) ([]dashboard.PanelOrRowPanel, error) {
	var out []dashboard.PanelOrRowPanel
	var y uint32
	nextID := func() uint32 { return uint32(len(out) + 1) }
	for _, r := range rows {
		out = append(out, dashboard.PanelOrRowPanel{RowPanel: r.header(nextID(), y)})
		y++
		var x, tallest uint32
		for _, p := range r.panels {
			at := dashboard.GridPos{W: cmp.Or(p.width, 12), H: cmp.Or(p.height, 8)}
			if x+at.W > gridColumns {
				x, y, tallest = 0, y+tallest, 0
			}
			at.X, at.Y = x, y
			built, err := p.render(nextID(), at)
			if err != nil {
				return nil, fmt.Errorf("panel %q: %w", p.title, err)
			}
			out = append(out, dashboard.PanelOrRowPanel{Panel: &built})
			x, tallest = x+at.W, max(tallest, at.H)
		}
		y += tallest
	}
	return out, nil
}

func (r row) header(id, y uint32) *dashboard.RowPanel {
	h := dashboard.NewRowPanel()
	h.Id, h.Title = id, &r.title
	h.GridPos = &dashboard.GridPos{X: 0, Y: y, W: gridColumns, H: 1}
	if r.repeat != "" {
		h.Repeat = &r.repeat
	}
	return h
}

// render makes the Grafana panel.
func (p panel) render(id uint32, at dashboard.GridPos) (dashboard.Panel, error) {
	if p.view == nil {
		p.view = graphView{}
	}
	out, err := p.view.draw(p)
	if err != nil {
		return dashboard.Panel{}, err
	}
	out.Id, out.GridPos, out.Title = &id, &at, &p.title
	out.Description = new(p.says + "\n\n**Read:** " + p.read + "\n\n**Act:** " + p.act)
	out.Datasource, out.Interval = new(datasource()), new("$"+varResolution)
	fields := &out.FieldConfig.Defaults
	fields.Unit, fields.Links = &p.unit, p.links
	if p.empty != "" {
		fields.NoValue = &p.empty
	}
	for i, q := range p.queries {
		target, err := p.build(q, i)
		if err != nil {
			return dashboard.Panel{}, err
		}
		out.Targets = append(out.Targets, target)
	}
	return out, nil
}

// build makes the Grafana query. The min step is what $__rate_interval is
// four times of; the panel's min interval alone would not widen it.
func (p panel) build(q query, i int) (variants.Dataquery, error) {
	b := prometheus.NewDataqueryBuilder().
		RefId(string(rune('A' + i))).
		EditorMode(prometheus.QueryEditorModeCode).
		Expr(q.expr).
		LegendFormat(q.legend).
		Interval("$" + varResolution)
	if q.exemplars {
		b.Exemplar(true)
	}
	p.view.ask(b)
	return b.Build()
}

func datasource() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${" + varDatasource + "}")}
}

// toTarget leads from a series with a target label to that target's detail.
func toTarget() []dashboard.DashboardLink {
	url := fmt.Sprintf("/d/%s?${__url_time_range}&${%s:queryparam}&var-%s=${__field.labels.%s}",
		TargetUID, varDatasource, varTarget, varTarget)
	return []dashboard.DashboardLink{{
		Title: "Detail of ${__field.labels." + varTarget + "}",
		Type:  dashboard.DashboardLinkTypeLink,
		Tags:  []string{},
		Url:   &url,
	}}
}
