package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// board is one dashboard before it is rendered.
type board struct {
	file, uid, title, about string
	// perProber adds the variable that picks probers by their instance.
	perProber bool
	rows      []row
}

// row is a titled band of panels, which flow from left to right.
type row struct {
	title string
	// repeat names the variable for each of whose values the row is drawn.
	repeat string
	panels []panel
}

// panel is one panel before it is rendered.
type panel struct {
	view  view
	title string
	about about
	unit  string
	// width and height are in Grafana's grid: 24 columns; a row of the grid is
	// about 36 pixels.
	width, height uint32
	queries       []query
	// levels colour the value from the given one up; the first has no value.
	levels []level
	// empty is shown when the queries return nothing.
	empty string
	// links lead from a series to another dashboard.
	links []dashboard.DashboardLink
}

// about is a panel's description: what it says, how to read it, and what to
// do when it looks bad.
type about struct{ says, read, act string }

// String is the Markdown of the description.
func (a about) String() string {
	return a.says + "\n\n**Read:** " + a.read + "\n\n**Act:** " + a.act
}

// level is a colour from a value upwards.
type level struct {
	from  float64
	color string
}

// query is one PromQL query of a panel.
type query struct {
	expr, legend string
	// instant asks for the value at the end of the range only.
	instant bool
	// format is how Grafana lays the answer out; "" is as time series.
	format prometheus.PromQueryFormat
	// exemplars asks for the samples that carry trace ids.
	exemplars bool
}

// view draws a panel: its type, options and field settings. The settings that
// all panels share are put on top by render.
type view interface {
	draw(p panel) (dashboard.Panel, error)
}

// render makes the Grafana panel.
func render(p panel, id uint32, at dashboard.GridPos) (dashboard.Panel, error) {
	out, err := p.view.draw(p)
	if err != nil {
		return dashboard.Panel{}, err
	}
	description := p.about.String()
	minInterval := "$" + varResolution
	out.Id, out.GridPos = &id, &at
	out.Title, out.Description = &p.title, &description
	out.Datasource = new(datasource())
	out.Interval = &minInterval
	for i, q := range p.queries {
		target, err := q.build(i)
		if err != nil {
			return dashboard.Panel{}, err
		}
		out.Targets = append(out.Targets, target)
	}
	return out, nil
}

// build makes the Grafana query. The min step is what $__rate_interval is
// four times of; the panel's min interval alone would not widen it.
func (q query) build(i int) (variants.Dataquery, error) {
	b := prometheus.NewDataqueryBuilder().
		RefId(string(rune('A' + i))).
		EditorMode(prometheus.QueryEditorModeCode).
		Expr(q.expr).
		LegendFormat(q.legend).
		Interval("$" + varResolution)
	if q.format != "" {
		b.Format(q.format)
	}
	if q.exemplars {
		b.Exemplar(true)
	}
	if q.instant {
		return b.Instant().Build()
	}
	return b.Range().Build()
}

func datasource() common.DataSourceRef {
	kind, uid := "prometheus", "${"+varDatasource+"}"
	return common.DataSourceRef{Type: &kind, Uid: &uid}
}
