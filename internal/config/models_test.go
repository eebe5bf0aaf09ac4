package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestModels checks that targets of models replace their target, also in objectives.
func TestModels(t *testing.T) {
	cfg, err := Parse("x.yml", []byte(`targets: [{name: other, base_url: "http://o"}, {name: m, base_url: "http://m", models: [org/a, b]}]
slos: [{name: mine, sli: availability, objective: 99%, targets: [m]}, {sli: ttft, threshold: 1s, objective: 99%}]`), ".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, j := range cfg.Jobs {
		got = append(got, j.Target.Name+"="+j.Target.Model)
		if covered := j.Objectives[0].Name == "mine"; covered != (j.Target.Name != "other") {
			t.Errorf("%s is judged by %v", j.Target.Name, j.Objectives)
		}
	}
	if diff := cmp.Diff([]string{"other=", "m/org-a=org/a", "m/b=b"}, got); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"m/org-a", "m/b"}, cfg.SLOs[0].Targets); diff != "" || cfg.SLOs[1].Targets != nil {
		t.Errorf("objectives %v\n%s", cfg.SLOs, diff)
	}
}
