package dashboard

import (
	"cmp"
	"fmt"
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
	// By and Of name the rows: one for each value of the labels By of the metric Of. Each query
	// answers NaN for the rows that it does not know, because Grafana's merge gives up if the
	// answer to one of several queries is empty. "" if the only query names the rows.
	By, Of string
	// SortBy are titles of columns, most important first; a leading "-" reverses the order.
	SortBy []string `yaml:"sort_by"`
	// Tall rows have room for two lines.
	Tall bool
}

// column is a field of the table: a label, or a query's value.
type column struct {
	// Field is the label, "Value" of a single query, "Value #A" of query A among several, or
	// "Trend #A" of a trend.
	Field, Title string
	// Unit of a value; "" for a label.
	Unit string
	// Decimals are as many as the size of the value needs if nil.
	Decimals *int
	Levels   []level
	Texts    texts
	// Cell is how the value is shown: color-background, gauge (up to Max) or sparkline; "" is
	// text, coloured if there are levels or texts.
	Cell string
	Max  float64
	// Width is in pixels; 0 lets Grafana decide.
	Width int
	// Wrap breaks long texts into lines. Hidden fields are for links of other columns only.
	Wrap, Hidden bool
	// ToTarget links to the detail of the row's target and workload.
	ToTarget bool `yaml:"to_target"`
	// Links are further links. Their URLs may contain fields of the row, as in ${__data.fields.path}.
	Links []link
}

type link struct{ Title, URL string }

// complete returns a query that answers for each row.
func (v tableView) complete(expr string) string {
	if v.By == "" {
		return expr
	}
	return fmt.Sprintf("(%s) or on (%[2]s) group by (%[2]s) (%[3]s) * NaN", expr, v.By, v.Of)
}

func (tableView) ask(q *prometheus.DataqueryBuilder) {
	q.Instant().Format(prometheus.PromQueryFormatTable)
}

func (v tableView) draw(p panel) (dashboard.Panel, error) {
	height := common.TableCellHeightSm
	if v.Tall {
		height = common.TableCellHeightLg
	}
	b := table.NewPanelBuilder().
		ShowHeader(true).
		CellHeight(height).
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

const unknownText = "–"

// unknown is the text of a value that is not known.
var unknown = dashboard.SpecialValueMap{Type: dashboard.MappingTypeSpecialValue, Options: dashboard.DashboardSpecialValueMapOptions{
	Match: dashboard.SpecialValueMatchNullAndNan, Result: dashboard.ValueMappingResult{Text: new(unknownText), Color: new(gray)},
}}

func (c column) properties() []dashboard.DynamicConfigValue {
	// A label is text, even if it looks like a number, such as the revision 527e455.
	out := []dashboard.DynamicConfigValue{property("unit", cmp.Or(c.Unit, "string"))}
	if c.Decimals != nil {
		out = append(out, property("decimals", *c.Decimals))
	}
	if c.Max > 0 {
		out = append(out, property("min", 0), property("max", c.Max))
	}
	if len(c.Levels) > 0 {
		out = append(out, property("thresholds", thresholds(c.Levels).v), property("color", map[string]string{"mode": string(dashboard.FieldColorModeIdThresholds)}))
	}
	var mappings []any
	if c.Texts != nil {
		mappings = append(mappings, c.Texts.mapping())
	}
	if c.Unit != "" {
		mappings = append(mappings, unknown)
	} else {
		out = append(out, property("noValue", unknownText)) // the panel's text is for a table without rows
	}
	if mappings != nil {
		out = append(out, property("mappings", mappings))
	}
	if c.Width > 0 {
		out = append(out, property("custom.width", c.Width))
	}
	var links []dashboard.DashboardLink
	if c.ToTarget {
		links = append(links, toTarget("__data.fields."))
	}
	for _, l := range c.Links {
		links = append(links, dashboard.DashboardLink{Title: l.Title, Type: dashboard.DashboardLinkTypeLink, Tags: []string{}, Url: &l.URL, TargetBlank: true})
	}
	if links != nil {
		out = append(out, property("links", links))
	}
	if c.Hidden {
		out = append(out, property("custom.hidden", true))
	}
	if cell := c.cell(); cell != nil {
		out = append(out, property("custom.cellOptions", cell))
	}
	return out
}

// cell returns how the value is shown; nil is plain text.
func (c column) cell() map[string]any {
	switch {
	case c.Wrap:
		return map[string]any{"type": "auto", "wrapText": true}
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
