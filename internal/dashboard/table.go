package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// grid draws a table from instant queries. One query gives one row a series;
// several are joined by a label, one column a query.
type grid struct {
	// joinBy is the label that joins the queries; "" for a single query.
	joinBy string
	// columns are shown, in order, everything else is hidden.
	columns []column
}

// column is a field of the table: a label, or a query's value.
type column struct {
	// field is the label, or "Value #A" for query A of several.
	field, title string
	unit         string
	decimals     int
	levels       []level
	// texts replaces values by words.
	texts map[string]dashboard.ValueMappingResult
}

func (g grid) draw(p panel) (dashboard.Panel, error) {
	b := table.NewPanelBuilder().
		Unit(p.unit).
		ShowHeader(true).
		CellHeight(common.TableCellHeightSm).
		// Left alone, the SDK writes a null where the schema wants a list.
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{})).
		Thresholds(made[dashboard.ThresholdsConfig]{colored(p.levels)}).
		DataLinks(links(p.links))
	if p.empty != "" {
		b.NoValue(p.empty)
	}
	if g.joinBy != "" {
		b.WithTransformation(dashboard.DataTransformerConfig{
			Id: "joinByField", Options: map[string]any{"byField": g.joinBy, "mode": "outer"},
		})
	}
	b.WithTransformation(g.pick()).WithTransformation(g.rename())
	for _, c := range g.columns {
		if properties := c.properties(); len(properties) > 0 {
			b.WithOverride(byName(c.title), properties)
		}
	}
	return b.Build()
}

// pick drops the fields that are no column: the times, and the labels that
// Prometheus or an operator may add.
func (g grid) pick() dashboard.DataTransformerConfig {
	names := make([]string, len(g.columns))
	for i, c := range g.columns {
		names[i] = c.field
	}
	return dashboard.DataTransformerConfig{
		Id:      "filterFieldsByName",
		Options: map[string]any{"include": map[string]any{"names": names}},
	}
}

// rename gives the columns their order and titles.
func (g grid) rename() dashboard.DataTransformerConfig {
	order, titles := map[string]int{}, map[string]string{}
	for i, c := range g.columns {
		order[c.field], titles[c.field] = i, c.title
	}
	return dashboard.DataTransformerConfig{
		Id: "organize",
		Options: map[string]any{
			"excludeByName": map[string]bool{}, "indexByName": order, "renameByName": titles,
		},
	}
}

func (c column) properties() []dashboard.DynamicConfigValue {
	var out []dashboard.DynamicConfigValue
	if c.unit != "" {
		out = append(out, property("unit", c.unit), property("decimals", c.decimals))
	}
	if len(c.levels) > 0 {
		steps := colored(c.levels)
		out = append(out, property("thresholds", steps))
	}
	if c.texts != nil {
		out = append(out, property("mappings", []dashboard.ValueMap{
			{Type: dashboard.MappingTypeValueToText, Options: c.texts},
		}))
	}
	if len(c.levels) > 0 || c.texts != nil {
		out = append(out, property("custom.cellOptions", map[string]string{"type": "color-text"}))
	}
	return out
}
