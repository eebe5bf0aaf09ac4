package dashboard

import (
	"cmp"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
)

// big draws the last value of each series as a coloured figure.
type big struct {
	// names shows the names of the series instead of their values: for info
	// metrics, whose value is always 1.
	names bool
	// texts replaces values by words.
	texts map[string]dashboard.ValueMappingResult
	// decimals is the number of digits after the point.
	decimals float64
}

func (v big) draw(p panel) (dashboard.Panel, error) {
	b := stat.NewPanelBuilder().
		Unit(p.unit).
		Decimals(v.decimals).
		Thresholds(made[dashboard.ThresholdsConfig]{colored(p.levels)}).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdThresholds)).
		ColorMode(common.BigValueColorModeValue).
		GraphMode(common.BigValueGraphModeNone).
		TextMode(v.textMode()).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		DataLinks(links(p.links)).
		NoValue(cmp.Or(p.empty, "unknown"))
	if v.texts != nil {
		b.Mappings([]dashboard.ValueMapping{{ValueMap: &dashboard.ValueMap{
			Type: dashboard.MappingTypeValueToText, Options: v.texts,
		}}})
	}
	return b.Build()
}

func (v big) textMode() common.BigValueTextMode {
	if v.names {
		return common.BigValueTextModeName
	}
	return common.BigValueTextModeAuto
}
