package dashboard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// Colours by Grafana's names, which follow its light and dark themes.
const (
	red    = "red"
	blue   = "blue"
	purple = "purple"
	gray   = "text"
)

// Legends of lines that are no measurements start so and are drawn dashed:
// limits in red, plans in blue, what a benchmark measured in purple.
const (
	limitPrefix    = "SLO "
	plannedPrefix  = "configured "
	expectedPrefix = "expected "
)

// built wraps what is built already as a builder, which the SDK wants.
type built[T any] struct{ v T }

func (b built[T]) Build() (T, error) { return b.v, nil }

// thresholds makes the colour steps of levels. Without any, one neutral step
// stands in for Grafana's default, which is red from 80 up.
func thresholds(levels []level) built[dashboard.ThresholdsConfig] {
	steps := []dashboard.Threshold{{Color: gray}}
	for i, l := range levels {
		if i == 0 {
			steps[0].Color = l.Color
			continue
		}
		steps = append(steps, dashboard.Threshold{Value: &l.From, Color: l.Color})
	}
	return built[dashboard.ThresholdsConfig]{dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: steps}}
}

// texts maps values to what is shown in their place.
type texts map[string]dashboard.ValueMappingResult

func (t texts) mapping() dashboard.ValueMap {
	return dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: t}
}

func property(id string, value any) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: id, Value: value}
}

// graphView draws lines over time.
type graphView struct {
	// Stacked fills and stacks the series: for parts of a whole.
	Stacked bool
	// Logarithmic has a log scale: for what spans powers of ten.
	Logarithmic bool
	// Max is the top of the axis; 0 leaves it to the data.
	Max float64
	// Floor is where the axis starts unless data lie below: for shares close
	// to 1, whose course would be lost on an axis from 0. 0 starts there.
	Floor float64
	// Limits draws the panel's levels as dashed lines.
	Limits bool
	// Colors fixes the colours of the series that match a regexp.
	Colors []seriesColor
}

type seriesColor struct{ Regexp, Color string }

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
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeTable).
			Placement(common.LegendPlacementBottom).Calcs([]string{"lastNotNull", "max"})).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending).HideZeros(g.Stacked))
	g.axis(b)
	if g.Stacked {
		b.FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	for _, c := range g.Colors {
		override(b, c.Regexp, paint(c.Color))
	}
	for _, l := range []struct{ prefix, color string }{{limitPrefix, red}, {plannedPrefix, blue}, {expectedPrefix, purple}} {
		if slices.ContainsFunc(p.Queries, func(q query) bool { return strings.HasPrefix(q.Legend, l.prefix) }) {
			override(b, "/^"+l.prefix+"/", paint(l.color),
				property("custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{10, 10}}),
				property("custom.showPoints", "never"))
		}
	}
	return b.Build()
}

func (g graphView) axis(b *timeseries.PanelBuilder) {
	if g.Floor > 0 {
		b.AxisSoftMin(g.Floor)
	} else {
		b.Min(0)
	}
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

// override sets properties of the series whose legend matches a regexp.
func override(b *timeseries.PanelBuilder, regexp string, properties ...dashboard.DynamicConfigValue) {
	b.WithOverride(dashboard.MatcherConfig{Id: "byRegexp", Options: regexp}, properties)
}

// paint is the field property that fixes a colour.
func paint(color string) dashboard.DynamicConfigValue {
	return property("color", map[string]string{"mode": "fixed", "fixedColor": color})
}

// statView draws the last value of each series as a coloured figure.
type statView struct {
	// Names shows the names of the series instead of their values: for info
	// metrics, whose value is always 1.
	Names bool
	Texts texts
	// Decimals is the number of digits after the point.
	Decimals float64
}

func (statView) ask(q *prometheus.DataqueryBuilder) { q.Instant() }

func (v statView) draw(p panel) (dashboard.Panel, error) {
	mode := common.BigValueTextModeAuto
	if v.Names {
		mode = common.BigValueTextModeName
	}
	b := stat.NewPanelBuilder().
		Decimals(v.Decimals).
		Thresholds(thresholds(p.Levels)).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdThresholds)).
		ColorMode(common.BigValueColorModeValue).
		GraphMode(common.BigValueGraphModeNone).
		TextMode(mode).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		NoValue(cmp.Or(p.Empty, "unknown"))
	if v.Texts != nil {
		b.Mappings([]dashboard.ValueMapping{{ValueMap: new(v.Texts.mapping())}})
	}
	return b.Build()
}

// heatmapView draws a histogram's buckets over time.
type heatmapView struct{}

func (heatmapView) ask(q *prometheus.DataqueryBuilder) {
	q.Range().Format(prometheus.PromQueryFormatHeatmap)
}

func (heatmapView) draw(p panel) (dashboard.Panel, error) {
	return heatmap.NewPanelBuilder().
		// Prometheus counts already by bucket; Grafana must not bin again.
		Calculate(false).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(p.Unit)).
		Color(heatmap.NewHeatmapColorOptionsBuilder().
			Mode(heatmap.HeatmapColorModeScheme).
			Scheme("Oranges").Fill("dark-orange").
			Scale(heatmap.HeatmapColorScaleExponential).Exponent(0.5).
			Steps(64)).
		CellValues(heatmap.NewCellValuesBuilder().Unit("cpm").Decimals(2)).
		// Empty buckets stay background, so that what happened stands out.
		FilterValues(heatmap.NewFilterValueRangeBuilder().Le(1e-9)).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).ShowColorScale(true).YHistogram(true)).
		ShowLegend().
		CellGap(1).
		Build()
}
