package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
)

// heat draws a histogram's buckets over time.
type heat struct{}

func (heat) draw(p panel) (dashboard.Panel, error) {
	return heatmap.NewPanelBuilder().
		// Prometheus counts already by bucket; Grafana must not bin again.
		Calculate(false).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(p.unit)).
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
		Unit(p.unit).
		Build()
}
