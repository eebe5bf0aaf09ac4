package chart

import (
	"os"
	"path/filepath"
	"testing"

	core "k8s.io/api/core/v1"
)

func TestDashboardsComeThroughUnchanged(t *testing.T) {
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
	for _, o := range render(t, "--values="+chartDir+"/ci/full-values.yaml") {
		if o.Kind != "ConfigMap" || o.Metadata.Labels["grafana_dashboard"] != "1" {
			continue
		}
		for name, text := range into[core.ConfigMap](t, o).Data {
			if text != want[name] {
				t.Errorf("%s is not the file of the chart", name)
			}
			delete(want, name)
		}
	}
	for name := range want {
		t.Errorf("no ConfigMap holds %s", name)
	}
}
