package dashboard_test

import (
	"errors"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	grafana "github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// TestSchema reads each dashboard back strictly: unknown fields, wrong types
// and missing ones are errors, in the options of each panel type too.
func TestSchema(t *testing.T) {
	plugins.RegisterDefaultPlugins()
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
	}
}
