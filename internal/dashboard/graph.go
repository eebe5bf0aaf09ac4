package dashboard

import (
	"regexp"
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

type graphView struct {
	// Stacked fills and stacks the series, for parts of a whole.
	Stacked bool
	// Logarithmic uses a log scale, for values over several powers of ten.
	Logarithmic bool
	// Max is the top of the axis; 0 follows the data.
	Max float64
	// Limits draws the panel's levels as dashed lines.
	Limits bool
	// Styles for series whose names are known only when drawn, in addition to styles.yml.
	Styles []style
}

// style describes how to draw the series whose names match a regexp.
type style struct {
	Regexp, Color string
	// Name replaces the series' name; "" keeps it.
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
		// A single sample between two gaps has no line, but is visible as a point.
		ShowPoints(common.VisibilityModeAuto).
		PointSize(4).
		// A line across a gap would show data that does not exist.
		SpanNulls(common.BoolOrFloat64{Bool: new(false)}).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdPaletteClassicByName)).
		Thresholds(thresholds(p.Levels)).
		ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(g.thresholdStyle())).
		Legend(smallLegend()).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending).HideZeros(g.Stacked))
	g.axis(b)
	if p.Unit == "percentunit" {
		// If all values are 0, Grafana's axis would end at 10,000 %.
		b.AxisSoftMax(0.05)
	}
	if g.Stacked {
		b.FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	shared, err := styles()
	if err != nil {
		return dashboard.Panel{}, err
	}
	for _, s := range slices.Concat(slices.DeleteFunc(shared, func(s style) bool { return !s.appliesTo(p.Queries) }), g.Styles) {
		b.WithOverride(s.matcher(), s.properties())
	}
	return b.Build()
}

func styles() (all []style, err error) {
	text, err := sources.ReadFile("boards/styles.yml")
	if err != nil {
		return nil, err
	}
	return all, decode(text, &all)
}

// appliesTo reports whether the legend of a query has the style.
func (s style) appliesTo(queries []query) bool {
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

// smallLegend shows names only: the tooltip has the values, and a table would take half of the
// panel.
func smallLegend() *common.VizLegendOptionsBuilder {
	return common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).
		Placement(common.LegendPlacementBottom).Calcs([]string{})
}
