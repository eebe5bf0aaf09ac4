package dashboard_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	grafana "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// TestSchema decodes each dashboard strictly: unknown fields, wrong types and missing fields are errors, also
// in the options of each panel type.
func TestSchema(t *testing.T) {
	// Only the used panel types are registered, because compiling all of them takes long.
	runtime := cog.NewRuntime()
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
	for _, panel := range []variants.PanelcfgConfig{heatmap.VariantConfig(), stat.VariantConfig(), bargauge.VariantConfig(), table.VariantConfig(), timeseries.VariantConfig()} {
		runtime.RegisterPanelcfgVariant(panel)
	}
	for _, d := range generate(t, example()) {
		//lint:ignore SA1019 the classic schema is what Generate writes.
		var back grafana.Dashboard
		// The SDK returns an empty list of errors, too, as an error.
		var found cog.BuildErrors
		if err := back.UnmarshalJSONStrict(d.JSON); err != nil && !(errors.As(err, &found) && len(found) == 0) {
			t.Errorf("%s: %v", d.File, err)
		}
		if err := back.Validate(); err != nil {
			t.Errorf("%s: %v", d.File, err)
		}
		var shown struct{ Panels []typed }
		if err := json.Unmarshal(d.JSON, &shown); err != nil {
			t.Fatal(err)
		}
		registered(t, shown.Panels)
	}
}

type typed struct {
	Type   string
	Panels []typed // of a row
}

// registered checks that all panels have registered types; the options of other types would not be decoded.
func registered(t *testing.T, panels []typed) {
	t.Helper()
	for _, p := range panels {
		if _, ok := cog.ConfigForPanelcfgVariant(p.Type); !ok && p.Type != "row" {
			t.Errorf("register the panel type %q, so that its options are read", p.Type)
		}
		registered(t, p.Panels)
	}
}
