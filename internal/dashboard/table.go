package dashboard

import (
	"cmp"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// tableView draws a table from instant queries. Series of different queries with the same labels
// share a row.
type tableView struct {
	// Columns are shown in order. All other fields are hidden: times, and labels that
	// Prometheus or an operator may add.
	Columns []column
	// SortBy are titles of columns, most important first; a leading "-" reverses the order.
	SortBy []string `yaml:"sort_by"`
}

// column is a field of the table: a label, or a query's value.
type column struct {
	// Field is the label, "Value" of a single query, "Value #A" of query A among several, or
	// "Trend #A" of a trend.
	Field, Title string
	// Unit of a value; "" for a label.
	Unit     string
	Decimals int
	Levels   []level
	Texts    texts
	// Cell is how the value is shown: color-background, gauge (up to Max) or sparkline; "" is
	// text, coloured if there are levels or texts.
	Cell string
	Max  float64
	// Width is in pixels; 0 lets Grafana decide.
	Width int
	// ToTarget links to the detail of the row's target and workload.
	ToTarget bool `yaml:"to_target"`
}

func (tableView) ask(q *prometheus.DataqueryBuilder) {
	q.Instant().Format(prometheus.PromQueryFormatTable)
}

func (v tableView) draw(p panel) (dashboard.Panel, error) {
	b := table.NewPanelBuilder().
		ShowHeader(true).
		CellHeight(common.TableCellHeightSm).
		// Without this, the SDK writes null where the schema needs a list.
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{})).
		Thresholds(thresholds(p.Levels)).
		SortBy(v.sorting())
	for _, t := range v.transformations(p.Queries) {
		b.WithTransformation(t)
	}
	for _, c := range v.Columns {
		b.WithOverride(dashboard.MatcherConfig{Id: "byName", Options: c.Title}, c.properties())
	}
	return b.Build()
}

func (v tableView) sorting() []cog.Builder[common.TableSortByFieldState] {
	var out []cog.Builder[common.TableSortByFieldState]
	for _, title := range v.SortBy {
		title, desc := strings.CutPrefix(title, "-")
		out = append(out, common.NewTableSortByFieldStateBuilder().DisplayName(title).Desc(desc))
	}
	return out
}

// transformations combine the answers into one table.
func (v tableView) transformations(queries []query) []dashboard.DataTransformerConfig {
	var trends, fields []string
	for i, q := range queries {
		if q.Trend {
			trends = append(trends, refID(i))
		}
	}
	order, titles := map[string]int{}, map[string]string{}
	for i, c := range v.Columns {
		fields = append(fields, c.Field)
		order[c.Field], titles[c.Field] = i, c.Title
	}
	var out []dashboard.DataTransformerConfig
	if len(trends) > 0 {
		// Without the filter, it would treat other answers as series of one sample.
		out = append(out, dashboard.DataTransformerConfig{
			Id: "timeSeriesTable", Options: map[string]any{},
			Filter: &dashboard.MatcherConfig{Id: "byRefId", Options: "/^(" + strings.Join(trends, "|") + ")$/"},
		})
	}
	if len(queries) > 1 {
		out = append(out, dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}})
	}
	return append(out,
		dashboard.DataTransformerConfig{Id: "filterFieldsByName", Options: map[string]any{"include": map[string]any{"names": fields}}},
		dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": map[string]bool{}, "indexByName": order, "renameByName": titles,
		}})
}

func (c column) properties() []dashboard.DynamicConfigValue {
	// A label is text, even if it looks like a number, such as the revision 527e455.
	out := []dashboard.DynamicConfigValue{property("unit", cmp.Or(c.Unit, "string"))}
	if c.Unit != "" {
		out = append(out, property("decimals", c.Decimals))
	}
	if c.Max > 0 {
		out = append(out, property("min", 0), property("max", c.Max))
	}
	if len(c.Levels) > 0 {
		out = append(out, property("thresholds", thresholds(c.Levels).v), property("color", map[string]string{"mode": string(dashboard.FieldColorModeIdThresholds)}))
	}
	if c.Texts != nil {
		out = append(out, property("mappings", []dashboard.ValueMap{c.Texts.mapping()}))
	}
	if c.Width > 0 {
		out = append(out, property("custom.width", c.Width))
	}
	if c.ToTarget {
		out = append(out, property("links", []dashboard.DashboardLink{toTarget("__data.fields.")}))
	}
	if cell := c.cell(); cell != nil {
		out = append(out, property("custom.cellOptions", cell))
	}
	return out
}

// cell returns how the value is shown; nil is plain text.
func (c column) cell() map[string]any {
	switch {
	case c.Cell == "gauge":
		return map[string]any{"type": c.Cell, "mode": "basic", "valueDisplayMode": "color"}
	case c.Cell == "sparkline":
		return map[string]any{"type": c.Cell, "drawStyle": "line", "lineWidth": 1, "fillOpacity": 10, "hideValue": false}
	case c.Cell != "":
		return map[string]any{"type": c.Cell}
	case len(c.Levels) > 0 || c.Texts != nil:
		return map[string]any{"type": "color-text"}
	}
	return nil
}
