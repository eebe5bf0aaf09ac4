package dashboard

import (
	"regexp"
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// graphView draws lines over time.
type graphView struct {
	// Stacked fills and stacks the series: for parts of a whole.
	Stacked bool
	// Logarithmic has a log scale: for what spans powers of ten.
	Logarithmic bool
	// Max is the top of the axis; 0 leaves it to the data.
	Max float64
	// Limits draws the panel's levels as dashed lines.
	Limits bool
	// Styles are of series whose names are only known when they are drawn, beside
	// those of styles.yml.
	Styles []style
}

// style is how the series are drawn whose names match a regexp.
type style struct {
	Regexp, Color string
	// Name is shown instead of the series' own; "" leaves that.
	Name   string
	Dashed bool
	// Down fills the space down to the series of that name.
	Down string
}

func (graphView) ask(q *prometheus.DataqueryBuilder) { q.Range() }

func (g graphView) draw(p panel) (dashboard.Panel, error) {
	b := timeseries.NewPanelBuilder().
		LineWidth(1).
		FillOpacity(0).
		// A lone sample between two gaps has no line; as a point it is seen.
		ShowPoints(common.VisibilityModeAuto).
		PointSize(4).
		// Gaps stay gaps: a line across them would show what nobody measured.
		SpanNulls(common.BoolOrFloat64{Bool: new(false)}).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdPaletteClassicByName)).
		Thresholds(thresholds(p.Levels)).
		ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(g.thresholdStyle())).
		Legend(smallLegend()).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending).HideZeros(g.Stacked))
	g.axis(b)
	if p.Unit == "percentunit" {
		// Where all is 0, Grafana's own axis ends at 10,000 %.
		b.AxisSoftMax(0.05)
	}
	if g.Stacked {
		b.FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	shared, err := styles()
	if err != nil {
		return dashboard.Panel{}, err
	}
	for _, s := range slices.Concat(slices.DeleteFunc(shared, func(s style) bool { return !s.of(p.Queries) }), g.Styles) {
		b.WithOverride(s.matcher(), s.properties())
	}
	return b.Build()
}

// styles are those that series have on every dashboard.
func styles() (all []style, err error) {
	text, err := sources.ReadFile("boards/styles.yml")
	if err != nil {
		return nil, err
	}
	return all, decode(text, &all)
}

// of reports whether the legend of one of the queries has the style.
func (s style) of(queries []query) bool {
	matches := regexp.MustCompile(s.Regexp).MatchString
	return slices.ContainsFunc(queries, func(q query) bool { return matches(q.Legend) })
}

func (s style) matcher() dashboard.MatcherConfig {
	return dashboard.MatcherConfig{Id: "byRegexp", Options: "/" + s.Regexp + "/"}
}

func (s style) properties() []dashboard.DynamicConfigValue {
	out := []dashboard.DynamicConfigValue{property("color", map[string]string{"mode": "fixed", "fixedColor": s.Color})}
	if s.Name != "" {
		out = append(out, property("displayName", s.Name))
	}
	if s.Dashed {
		out = append(out, property("custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{10, 10}}), property("custom.showPoints", "never"))
	}
	if s.Color == "transparent" {
		out = append(out, property("custom.hideFrom", map[string]bool{"legend": true, "tooltip": false, "viz": false}))
	}
	if s.Down != "" {
		out = append(out, property("custom.fillBelowTo", s.Down), property("custom.fillOpacity", 12))
	}
	return out
}

func (g graphView) axis(b *timeseries.PanelBuilder) {
	b.Min(0)
	if g.Max > 0 {
		b.Max(g.Max)
	}
	if g.Logarithmic {
		b.ScaleDistribution(common.NewScaleDistributionConfigBuilder().Type(common.ScaleDistributionLog).Log(10))
	}
}

func (g graphView) thresholdStyle() common.GraphThresholdsStyleMode {
	if g.Limits {
		return common.GraphThresholdsStyleModeDashed
	}
	return common.GraphThresholdsStyleModeOff
}

// smallLegend is names in a line: figures are in the tooltip, and a table would
// take half of the panel.
func smallLegend() *common.VizLegendOptionsBuilder {
	return common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).
		Placement(common.LegendPlacementBottom).Calcs([]string{})
}
