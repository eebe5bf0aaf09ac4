package dashboard

import (
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// Legends of lines that are no measurements start so and are drawn dashed:
// limits in red, plans in blue, what a benchmark measured in purple.
const (
	limitPrefix    = "SLO "
	plannedPrefix  = "configured "
	expectedPrefix = "expected "
)

// graph draws lines over time.
type graph struct {
	// stacked fills and stacks the series: for parts of a whole.
	stacked bool
	// logarithmic has a log scale: for what spans powers of ten.
	logarithmic bool
	// max is the top of the axis; 0 leaves it to the data.
	max float64
	// floor is where the axis starts unless data lie below: for shares close
	// to 1, whose course would be lost on an axis from 0. 0 starts there.
	floor float64
	// limits draws the panel's levels as dashed lines.
	limits bool
	// colors fixes the colours of the series that match a regexp.
	colors []seriesColor
}

type seriesColor struct{ regexp, color string }

func (g graph) draw(p panel) (dashboard.Panel, error) {
	b := timeseries.NewPanelBuilder().
		Unit(p.unit).
		LineWidth(1).
		FillOpacity(0).
		// A lone sample between two gaps has no line; as a point it is seen.
		ShowPoints(common.VisibilityModeAuto).
		PointSize(4).
		// Gaps stay gaps: a line across them would show what nobody measured.
		SpanNulls(common.BoolOrFloat64{Bool: new(false)}).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdPaletteClassicByName)).
		Thresholds(made[dashboard.ThresholdsConfig]{colored(p.levels)}).
		ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(g.thresholdStyle())).
		Legend(legendTable()).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending).HideZeros(g.stacked)).
		DataLinks(links(p.links))
	if g.floor > 0 {
		b.AxisSoftMin(g.floor)
	} else {
		b.Min(0)
	}
	if g.max > 0 {
		b.Max(g.max)
	}
	if g.logarithmic {
		b.ScaleDistribution(common.NewScaleDistributionConfigBuilder().Type(common.ScaleDistributionLog).Log(10))
	}
	if g.stacked {
		b.FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	if p.empty != "" {
		b.NoValue(p.empty)
	}
	for _, c := range g.colors {
		b.WithOverride(byRegexp(c.regexp), []dashboard.DynamicConfigValue{paint(c.color)})
	}
	if p.draws(limitPrefix) {
		b.WithOverride(byRegexp("/^"+limitPrefix+"/"), dashed(red))
	}
	if p.draws(plannedPrefix) {
		b.WithOverride(byRegexp("/^"+plannedPrefix+"/"), dashed(blue))
	}
	if p.draws(expectedPrefix) {
		b.WithOverride(byRegexp("/^"+expectedPrefix+"/"), dashed(purple))
	}
	return b.Build()
}

// draws reports whether a query's legend starts so.
func (p panel) draws(prefix string) bool {
	return slices.ContainsFunc(p.queries, func(q query) bool { return strings.HasPrefix(q.legend, prefix) })
}

func (g graph) thresholdStyle() common.GraphThresholdsStyleMode {
	if g.limits {
		return common.GraphThresholdsStyleModeDashed
	}
	return common.GraphThresholdsStyleModeOff
}

// dashed draws what is no measurement.
func dashed(color string) []dashboard.DynamicConfigValue {
	return []dashboard.DynamicConfigValue{
		paint(color),
		property("custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{10, 10}}),
		property("custom.showPoints", "never"),
	}
}

func legendTable() *common.VizLegendOptionsBuilder {
	return common.NewVizLegendOptionsBuilder().
		ShowLegend(true).
		DisplayMode(common.LegendDisplayModeTable).
		Placement(common.LegendPlacementBottom).
		Calcs([]string{"lastNotNull", "max"})
}
