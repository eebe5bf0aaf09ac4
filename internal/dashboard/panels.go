package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// Grafana's names of colours, which follow its light and dark themes. Green is only the state "normal", because a
// green figure beside a page would contradict it.
const red, orange, green, gray = "red", "orange", "green", "text"

// nothing is what a chart says if its queries have no answer, unknown what a cell says, date the unit of a time in
// milliseconds.
const nothing, unknown, date = "nothing was measured in this time range", "–", "time:MMM D, HH:mm"

type query struct{ legend, expr string }

// target returns a query. $__rate_interval is four times the interval or more.
func (b *board) target(i int, q query) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().RefId(string(rune('A' + i))).EditorMode(prometheus.QueryEditorModeCode).
		Expr(b.scoped(q.expr)).LegendFormat(q.legend).Interval("30s")
}

func (b *board) nextID() uint32 {
	b.panels++
	return b.panels
}

// chart returns a panel with lines. The legend shows names only: the tooltip has the values, and a table would
// take half of the panel.
func (b *board) chart(title, unit, about string, queries ...query) *timeseries.PanelBuilder {
	p := timeseries.NewPanelBuilder().Id(b.nextID()).Title(title).Description(about).Datasource(source()).Unit(unit).
		Span(8).Height(7).Min(0).LineWidth(1).FillOpacity(0).ShowPoints(common.VisibilityModeAuto).PointSize(4).NoValue(nothing).
		SpanNulls(common.BoolOrFloat64{Float64: new(5 * 60e3)}). // a longer gap is unknown, not a line
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdPaletteClassicByName)).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode("list").Placement("bottom").Calcs([]string{})).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	if unit == "percentunit" {
		p.AxisSoftMax(0.05) // if all values are 0, Grafana's axis would end at 10,000 %
	}
	for i, q := range queries {
		p.WithTarget(b.target(i, q).Range())
	}
	return p.OverrideByRegexp("/^SLO /", dashed(red)).OverrideByRegexp("/usual|configured/", dashed(gray)).
		OverrideByRegexp("/p50$/", line("blue")).OverrideByRegexp("/p95$/", line("purple")).OverrideByRegexp("/p99$|follow-up p95$/", line("dark-yellow"))
}

// stacked fills and stacks the series of a chart, for parts of a whole.
func stacked(p *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return p.FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
}

func line(color string) []dashboard.DynamicConfigValue {
	return []dashboard.DynamicConfigValue{property("color", map[string]string{"mode": "fixed", "fixedColor": color})}
}

func dashed(color string) []dashboard.DynamicConfigValue {
	return append(line(color), property("custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{10, 10}}), property("custom.showPoints", "never"))
}

// right moves a line of another unit to an axis of its own.
func right(unit string) []dashboard.DynamicConfigValue {
	return []dashboard.DynamicConfigValue{property("custom.axisPlacement", "right"), property("unit", unit)}
}

func property(id string, value any) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: id, Value: value}
}

// column is a field of a table: a label, "Value" of a single query, or "Value #A" of query A among several.
type column struct {
	field, title string
	properties   []dashboard.DynamicConfigValue
}

// col returns a column. The unit "" is for a label, which is text, even if it looks like a number. The width is in
// pixels; 0 shares what is left.
func col(field, title, unit string, width int, more ...dashboard.DynamicConfigValue) column {
	out := []dashboard.DynamicConfigValue{property("unit", unit), mapping(nil)}
	if unit == "" {
		out = []dashboard.DynamicConfigValue{property("unit", "string"), property("noValue", unknown)}
	}
	if width > 0 {
		out = append(out, property("custom.width", width))
	}
	return column{field, title, append(out, more...)}
}

// table returns a panel with the last values. All fields without a column are hidden. sortBy is the title of a
// column with numbers, the largest first.
func (b *board) table(title, about, sortBy string, columns []column, queries ...string) *table.PanelBuilder {
	p := table.NewPanelBuilder().Id(b.nextID()).Title(title).Description(about).Datasource(source()).Span(24).Height(7).
		Unit("string").ShowHeader(true).CellHeight(common.TableCellHeightSm).NoValue(nothing).
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{})). // the SDK would write null for the list
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName(sortBy).Desc(true)})
	for i, q := range queries {
		p.WithTarget(b.target(i, query{"{{target}}", q}).Instant().Format(prometheus.PromQueryFormatTable))
	}
	if len(queries) > 1 {
		p.WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}})
	}
	var fields []string
	order, titles := map[string]int{}, map[string]string{}
	for i, c := range columns {
		fields = append(fields, c.field)
		order[c.field], titles[c.field] = i, c.title
		p.OverrideByName(c.title, c.properties)
	}
	return p.WithTransformation(dashboard.DataTransformerConfig{Id: "filterFieldsByName", Options: map[string]any{"include": map[string]any{"names": fields}}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{"excludeByName": map[string]bool{}, "indexByName": order, "renameByName": titles}})
}

// texts are what is shown for values. Texts of states have colours.
type texts map[string]string

// mapping shows texts for values, and a dash for an unknown value.
func mapping(t texts) dashboard.DynamicConfigValue {
	out := []any{dashboard.SpecialValueMap{Type: dashboard.MappingTypeSpecialValue, Options: dashboard.DashboardSpecialValueMapOptions{
		Match: dashboard.SpecialValueMatchNullAndNan, Result: dashboard.ValueMappingResult{Text: new(unknown), Color: new(gray)},
	}}}
	if t != nil {
		out = append(out, t.valueMap())
	}
	return property("mappings", out)
}

func (t texts) valueMap() *dashboard.ValueMap {
	colours := map[string]string{"normal": green, "not judged": "purple", "ticket": orange, "paging": red, "see there": "transparent", "calm": "transparent", "normal since": "transparent"}
	options := map[string]dashboard.ValueMappingResult{}
	for value, text := range t {
		r := dashboard.ValueMappingResult{Text: &text}
		if color, ok := colours[text]; ok {
			r.Color = &color
		}
		options[value] = r
	}
	return &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: options}
}

func steps(all ...dashboard.Threshold) *dashboard.ThresholdsConfigBuilder {
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(all)
}

// cell shows a column as color-background, color-text or, with long texts in several lines, auto.
func cell(kind string) dashboard.DynamicConfigValue {
	return property("custom.cellOptions", map[string]any{"type": kind, "wrapText": kind == "auto"})
}

func decimals(n int) dashboard.DynamicConfigValue { return property("decimals", n) }

// coloured colours the text of a column from two values on, and rounds it.
func coloured(n int, warning, bad float64) []dashboard.DynamicConfigValue {
	built, _ := steps(dashboard.Threshold{Color: gray}, dashboard.Threshold{Value: &warning, Color: orange}, dashboard.Threshold{Value: &bad, Color: red}).Build()
	return []dashboard.DynamicConfigValue{property("thresholds", built), property("color", map[string]string{"mode": "thresholds"}), cell("color-text"), decimals(n)}
}

func linked(l *dashboard.DashboardLinkBuilder) dashboard.DynamicConfigValue {
	built, _ := l.Build() // it has no constraints
	return property("links", []dashboard.DashboardLink{built})
}

// toTarget links to the detail of the clicked target and workload, whose values Grafana provides under a prefix.
func (b *board) toTarget(under string) *dashboard.DashboardLinkBuilder {
	url := "/d/" + b.in.UIDPrefix + TargetUID + "?${__url_time_range}&${" + varDatasource + ":queryparam}"
	for _, l := range b.in.KeepLabels {
		url += "&${" + l + ":queryparam}"
	}
	url += "&var-target=${" + under + "target}&var-workload=${" + under + "workload}"
	return link("Detail of ${"+under+varTarget+"}", url)
}

func link(title, url string) *dashboard.DashboardLinkBuilder {
	return dashboard.NewDashboardLinkBuilder(title).Type(dashboard.DashboardLinkTypeLink).Tags([]string{}).Url(url)
}
