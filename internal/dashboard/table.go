package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// tableView draws a table from instant queries. One query gives one row a
// series; several are joined by a label, one column a query.
type tableView struct {
	// joinBy is the label that joins the queries; "" for a single query.
	joinBy string
	// columns are shown, in order, everything else is hidden: the times, and the
	// labels that Prometheus or an operator may add.
	columns []column
}

// column is a field of the table: a label, or a query's value.
type column struct {
	// field is the label, or "Value #A" for query A of several.
	field, title string
	unit         string
	decimals     int
	levels       []level
	texts        texts
}

func (tableView) ask(q *prometheus.DataqueryBuilder) {
	q.Instant().Format(prometheus.PromQueryFormatTable)
}

func (v tableView) draw(p panel) (dashboard.Panel, error) {
	b := table.NewPanelBuilder().
		ShowHeader(true).
		CellHeight(common.TableCellHeightSm).
		// Left alone, the SDK writes a null where the schema wants a list.
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{})).
		Thresholds(thresholds(p.levels))
	transform := func(id string, options map[string]any) {
		b.WithTransformation(dashboard.DataTransformerConfig{Id: id, Options: options})
	}
	if v.joinBy != "" {
		transform("joinByField", map[string]any{"byField": v.joinBy, "mode": "outer"})
	}
	var names []string
	order, titles := map[string]int{}, map[string]string{}
	for i, c := range v.columns {
		names = append(names, c.field)
		order[c.field], titles[c.field] = i, c.title
		if properties := c.properties(); len(properties) > 0 {
			b.WithOverride(dashboard.MatcherConfig{Id: "byName", Options: c.title}, properties)
		}
	}
	transform("filterFieldsByName", map[string]any{"include": map[string]any{"names": names}})
	transform("organize", map[string]any{
		"excludeByName": map[string]bool{}, "indexByName": order, "renameByName": titles,
	})
	return b.Build()
}

func (c column) properties() []dashboard.DynamicConfigValue {
	var out []dashboard.DynamicConfigValue
	if c.unit != "" {
		out = append(out, property("unit", c.unit), property("decimals", c.decimals))
	}
	if len(c.levels) > 0 {
		out = append(out, property("thresholds", thresholds(c.levels).v))
	}
	if c.texts != nil {
		out = append(out, property("mappings", []dashboard.ValueMap{c.texts.mapping()}))
	}
	if len(c.levels) > 0 || c.texts != nil {
		out = append(out, property("custom.cellOptions", map[string]string{"type": "color-text"}))
	}
	return out
}
