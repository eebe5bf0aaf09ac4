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
const (
	red    = "red"
	orange = "orange"
	green  = "green"
	gray   = "text"
)

// nothing is what a chart says if its queries have no answer.
const nothing = "nothing was measured in this time range"

type query struct{ legend, expr string }

// target returns a query. $__rate_interval is four times the interval or more.
func (b *board) target(i int, q query) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().RefId(refID(i)).EditorMode(prometheus.QueryEditorModeCode).
		Expr(b.scoped(q.expr)).LegendFormat(q.legend).Interval("30s")
}

func refID(i int) string { return string(rune('A' + i)) }

func (b *board) nextID() uint32 {
	b.panels++
	return b.panels
}

// chart returns a panel with lines. The legend shows names only: the tooltip has the values, and a table would
// take half of the panel.
func (b *board) chart(title, unit, about string, queries ...query) *timeseries.PanelBuilder {
	p := timeseries.NewPanelBuilder().Id(b.nextID()).Title(title).Description(about).Datasource(source()).Unit(unit).
		Span(8).Height(7).Min(0).LineWidth(1).FillOpacity(0).ShowPoints(common.VisibilityModeAuto).PointSize(4).NoValue(nothing).
		SpanNulls(common.BoolOrFloat64{Float64: new(b.in.longestGap())}).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdPaletteClassicByName)).
		Thresholds(levels()).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).Calcs([]string{})).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	if unit == "percentunit" {
		p.AxisSoftMax(0.05) // if all values are 0, Grafana's axis would end at 10,000 %
	}
	for i, q := range queries {
		p.WithTarget(b.target(i, q).Range())
	}
	return p.
		OverrideByRegexp("/^SLO /", line(red, "dash")).
		OverrideByRegexp("/usual|configured/", line(gray, "dash")).
		OverrideByRegexp("/p50$/", line("blue", "solid")).
		OverrideByRegexp("/p95$/", line("purple", "solid")).
		OverrideByRegexp("/p99$|follow-up p95$/", line("dark-yellow", "solid"))
}

// stacked fills and stacks the series of a chart, for parts of a whole.
func stacked(p *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return p.FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
}

func line(color, fill string) []dashboard.DynamicConfigValue {
	out := []dashboard.DynamicConfigValue{property("color", map[string]string{"mode": "fixed", "fixedColor": color})}
	if fill == "dash" {
		out = append(out, property("custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{10, 10}}), property("custom.showPoints", "never"))
	}
	return out
}

func property(id string, value any) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: id, Value: value}
}

// column is a field of a table: a label, "Value" of a single query, or "Value #A" of query A among several.
type column struct {
	field, title string
	// unit of a value; "" for a label, which is text, even if it looks like a number.
	unit string
	// width in pixels; 0 shares what is left.
	width int
	more  []dashboard.DynamicConfigValue
}

// table returns a panel with the last values. All fields without a column are hidden. sortBy is the title of a
// column with numbers, the largest first.
func (b *board) table(title, about, sortBy string, columns []column, queries ...string) *table.PanelBuilder {
	p := table.NewPanelBuilder().Id(b.nextID()).Title(title).Description(about).Datasource(source()).Span(24).Height(7).
		Unit("string").ShowHeader(true).CellHeight(common.TableCellHeightSm).NoValue(nothing).Thresholds(levels()).
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
		p.OverrideByName(c.title, c.properties())
	}
	return p.WithTransformation(dashboard.DataTransformerConfig{Id: "filterFieldsByName", Options: map[string]any{"include": map[string]any{"names": fields}}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": map[string]bool{}, "indexByName": order, "renameByName": titles,
		}})
}

const unknown = "–"

func (c column) properties() []dashboard.DynamicConfigValue {
	out := []dashboard.DynamicConfigValue{property("unit", c.unit)}
	if c.unit == "" {
		out = []dashboard.DynamicConfigValue{property("unit", "string"), property("noValue", unknown)}
	} else {
		out = append(out, mapping(nil))
	}
	if c.width > 0 {
		out = append(out, property("custom.width", c.width))
	}
	return append(out, c.more...)
}

// texts are the text and the colour, which may be "", of values.
type texts map[string][2]string

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
	options := map[string]dashboard.ValueMappingResult{}
	for value, shown := range t {
		r := dashboard.ValueMappingResult{Text: &shown[0]}
		if shown[1] != "" {
			r.Color = &shown[1]
		}
		options[value] = r
	}
	return &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: options}
}

type level struct {
	from  float64
	color string
}

// levels returns the colour steps of values; below the first level they are gray. Grafana's default is red from 80 up.
func levels(all ...level) *dashboard.ThresholdsConfigBuilder {
	steps := []dashboard.Threshold{{Color: gray}}
	for _, l := range all {
		steps = append(steps, dashboard.Threshold{Value: &l.from, Color: l.color})
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps)
}

// coloured colours the text of a column by levels.
func coloured(all ...level) []dashboard.DynamicConfigValue {
	built, _ := levels(all...).Build() // it cannot fail
	return []dashboard.DynamicConfigValue{
		property("thresholds", built), property("color", map[string]string{"mode": string(dashboard.FieldColorModeIdThresholds)}),
		property("custom.cellOptions", map[string]any{"type": "color-text"}),
	}
}

func cell(kind string) dashboard.DynamicConfigValue {
	return property("custom.cellOptions", map[string]any{"type": kind})
}

func wrapped() dashboard.DynamicConfigValue {
	return property("custom.cellOptions", map[string]any{"type": "auto", "wrapText": true})
}

func decimals(n int) dashboard.DynamicConfigValue { return property("decimals", n) }

func links(all ...*dashboard.DashboardLinkBuilder) dashboard.DynamicConfigValue {
	var out []dashboard.DashboardLink
	for _, l := range all {
		built, _ := l.Build() // it has no constraints
		out = append(out, built)
	}
	return property("links", out)
}

// toTarget links to the detail of the clicked target and workload, whose values Grafana provides under a prefix.
func (b *board) toTarget(under string) *dashboard.DashboardLinkBuilder {
	url := "/d/" + b.in.UIDPrefix + TargetUID + "?${__url_time_range}&${" + varDatasource + ":queryparam}"
	for _, l := range b.in.KeepLabels {
		url += "&${" + l + ":queryparam}"
	}
	for _, l := range []string{varTarget, varWorkload} {
		url += "&var-" + l + "=${" + under + l + "}"
	}
	return link("Detail of ${"+under+varTarget+"}", url)
}

func link(title, url string) *dashboard.DashboardLinkBuilder {
	return dashboard.NewDashboardLinkBuilder(title).Type(dashboard.DashboardLinkTypeLink).Tags([]string{}).Url(url)
}
