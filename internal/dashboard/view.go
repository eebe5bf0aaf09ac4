package dashboard

import (
	"cmp"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
)

// Grafana's names of colours, which follow its light and dark themes.
const (
	red   = "red"
	green = "green"
	gray  = "text"
)

// built wraps a finished value as a builder, as the SDK requires.
type built[T any] struct{ v T }

func (b built[T]) Build() (T, error) { return b.v, nil }

// thresholds returns the colour steps of levels. Without levels, one neutral step replaces
// Grafana's default, which is red from 80 up.
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

type texts map[string]dashboard.ValueMappingResult

func (t texts) mapping() dashboard.ValueMap {
	return dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: t}
}

func property(id string, value any) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: id, Value: value}
}

// statView draws the last value of each series as a coloured number.
type statView struct {
	// Names shows the names of series instead of values, for info metrics with the constant
	// value 1.
	Names bool
	Texts texts
	// Styles name the series.
	Styles []style
	// Decimals are as many as the size of the value needs if nil.
	Decimals *float64
}

func (statView) ask(q *prometheus.DataqueryBuilder) { q.Instant() }

func (v statView) draw(p panel) (dashboard.Panel, error) {
	mode := common.BigValueTextModeAuto // with the names of several series
	if v.Names {
		mode = common.BigValueTextModeName
	}
	b := stat.NewPanelBuilder().
		Thresholds(thresholds(p.Levels)).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdThresholds)).
		ColorMode(common.BigValueColorModeValue).
		GraphMode(common.BigValueGraphModeNone).
		// If empty, Grafana shows only the first of several series.
		Orientation(common.VizOrientationAuto).
		TextMode(mode).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		NoValue(cmp.Or(p.Empty, "unknown"))
	if v.Decimals != nil {
		b.Decimals(*v.Decimals)
	}
	for _, s := range v.Styles {
		b.WithOverride(s.matcher(), s.properties())
	}
	if v.Texts != nil {
		// Dark red is too dark for a text on a dark page.
		b.ColorMode(common.BigValueColorModeBackground)
		b.Mappings([]dashboard.ValueMapping{{ValueMap: new(v.Texts.mapping())}})
	}
	return b.Build()
}

type heatmapView struct{}

func (heatmapView) ask(q *prometheus.DataqueryBuilder) {
	q.Range().Format(prometheus.PromQueryFormatHeatmap)
}

func (heatmapView) draw(p panel) (dashboard.Panel, error) {
	return heatmap.NewPanelBuilder().
		// Prometheus has already counted by bucket; Grafana must not do it again.
		Calculate(false).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(p.Unit)).
		Color(heatmap.NewHeatmapColorOptionsBuilder().
			Mode(heatmap.HeatmapColorModeScheme).
			Scheme("Oranges").Fill("dark-orange").
			Scale(heatmap.HeatmapColorScaleExponential).Exponent(0.5).
			Steps(64)).
		CellValues(heatmap.NewCellValuesBuilder().Unit("suffix:/min").Decimals(2)).
		// Empty buckets stay background, so that what happened stands out.
		FilterValues(heatmap.NewFilterValueRangeBuilder().Le(1e-9)).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).ShowColorScale(true).YHistogram(true)).
		ShowLegend().
		CellGap(1).
		Build()
}

// timelineRows is the number of targets on a page of a timeline of the usual height, whose names do
// not overlap.
const timelineRows = 8

type timelineView struct{ Texts texts }

func (timelineView) ask(q *prometheus.DataqueryBuilder) { q.Range() }

func (v timelineView) draw(p panel) (dashboard.Panel, error) {
	return statetimeline.NewPanelBuilder().
		// The colours are those of the texts. With the mode "thresholds", Grafana ignores the texts.
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdPaletteClassic)).
		Mappings([]dashboard.ValueMapping{{ValueMap: new(v.Texts.mapping())}}).
		// The rows are thin where there are many, and the text would not fit.
		ShowValue(common.VisibilityModeNever).
		FillOpacity(80).
		LineWidth(0).
		PerPage(timelineRows).
		Legend(smallLegend()).
		Build()
}
