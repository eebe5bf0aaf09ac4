package chart

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
)

// TestDashboardsComeThroughUnchanged as ConfigMaps and as the Grafana operator's
// resources.
func TestDashboardsComeThroughUnchanged(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/full-values.yaml", "--set=dashboards.operator.enabled=true")
	inMaps, resources := map[string]string{}, map[string]string{}
	for _, o := range objects {
		switch {
		case o.Kind == "ConfigMap" && o.Metadata.Labels["grafana_dashboard"] == "1":
			maps.Copy(inMaps, decodeAs[core.ConfigMap](t, o).Data)
		case o.Kind == "GrafanaDashboard":
			name := strings.TrimPrefix(o.Metadata.Name, "rel-synthetic-") + ".json"
			resources[name] = decodeAs[grafanaDashboard](t, o).Spec.JSON
		}
	}
	want := map[string]string{}
	files, err := filepath.Glob(chartDir + "/dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("the chart has no dashboards (%v): run \"make generate\"", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want[filepath.Base(file)] = string(text)
	}
	if !maps.Equal(inMaps, want) {
		t.Errorf("the ConfigMaps hold %q, not the files of the chart", slices.Sorted(maps.Keys(inMaps)))
	}
	if !maps.Equal(resources, want) {
		t.Errorf("the GrafanaDashboards hold %q, not the files of the chart", slices.Sorted(maps.Keys(resources)))
	}
}
