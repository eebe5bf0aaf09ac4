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
	// JoinBy is the label that joins the queries; "" for a single query.
	JoinBy string `yaml:"join_by"`
	// Columns are shown, in order, everything else is hidden: the times, and the
	// labels that Prometheus or an operator may add.
	Columns []column
}

// column is a field of the table: a label, or a query's value.
type column struct {
	// Field is the label, or "Value #A" for query A of several.
	Field, Title string
	Unit         string
	Decimals     int
	Levels       []level
	Texts        texts
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
		Thresholds(thresholds(p.Levels))
	transform := func(id string, options map[string]any) {
		b.WithTransformation(dashboard.DataTransformerConfig{Id: id, Options: options})
	}
	if v.JoinBy != "" {
		transform("joinByField", map[string]any{"byField": v.JoinBy, "mode": "outer"})
	}
	var names []string
	order, titles := map[string]int{}, map[string]string{}
	for i, c := range v.Columns {
		names = append(names, c.Field)
		order[c.Field], titles[c.Field] = i, c.Title
		if properties := c.properties(); len(properties) > 0 {
			b.WithOverride(dashboard.MatcherConfig{Id: "byName", Options: c.Title}, properties)
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
	if c.Unit != "" {
		out = append(out, property("unit", c.Unit), property("decimals", c.Decimals))
	}
	if len(c.Levels) > 0 {
		out = append(out, property("thresholds", thresholds(c.Levels).v))
	}
	if c.Texts != nil {
		out = append(out, property("mappings", []dashboard.ValueMap{c.Texts.mapping()}))
	}
	if len(c.Levels) > 0 || c.Texts != nil {
		out = append(out, property("custom.cellOptions", map[string]string{"type": "color-text"}))
	}
	return out
}
