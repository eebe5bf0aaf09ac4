package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExpand checks which targets replace a target with several models, also in selections.
func TestExpand(t *testing.T) {
	tests := map[string]struct {
		models string
		listed []string
		want   []string // target=model
		rules  []string
	}{
		"all":                         {`"*"`, []string{"b", "org/a"}, []string{"m/b=b", "m/org-a=org/a"}, []string{"m", "m/*"}},
		"all, nothing known":          {`"*"`, nil, []string{"m="}, []string{"m", "m/*"}},
		"names need no list":          {`[y, x]`, nil, []string{"m/x=x", "m/y=y"}, []string{"m/x", "m/y"}},
		"a pattern, nothing known":    {`["z*"]`, nil, []string{"m="}, []string{"m", "m/*"}},
		"a pattern that nothing fits": {`["z*"]`, []string{"a"}, []string{"m=z*"}, []string{"m", "m/*"}},
		"a name and a pattern":        {`[x, "y*"]`, []string{"y1"}, []string{"m/x=x", "m/y1=y1"}, []string{"m/x", "m/*"}},
		"names of one label":          {`"*"`, []string{"a/b", "a:b"}, []string{"m/a-b=a/b"}, []string{"m", "m/*"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg, err := Parse("x.yml", []byte(`targets: [{name: other, base_url: "http://o"}, {name: m, base_url: "http://m", models: `+tc.models+`}]
slos: [{name: mine, sli: availability, objective: 99%, targets: [m]}, {sli: ttft, threshold: 1s, objective: 99%}]`), ".")
			if err != nil {
				t.Fatal(err)
			}
			promised := 0.0
			for _, j := range cfg.Jobs {
				promised += j.Policy.FalsePages
			}
			listed := map[string][]string{}
			if tc.listed != nil {
				listed["m"] = tc.listed
			}
			e := cfg.WithDiscovered(listed, nil)
			var got, names []string
			for _, j := range e.Jobs {
				promised -= j.Policy.FalsePages
				if j.Target.Name == "other" {
					if len(j.Objectives) != 1 {
						t.Errorf("the other target is judged by %d objectives", len(j.Objectives))
					}
					continue
				}
				got, names = append(got, j.Target.Name+"="+j.Target.Model), append(names, j.Target.Name)
				if len(j.Objectives) != 2 || !j.Objectives[0].CoversJob(j.Target.Name, "chat") {
					t.Errorf("%s is judged by %v", j.Target.Name, j.Objectives)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(names, e.SLOs[0].Targets); diff != "" || len(e.Targets) != len(names)+1 || e.SLOs[1].Targets != nil {
				t.Errorf("objectives %v, %d targets\n%s", e.SLOs, len(e.Targets), diff)
			}
			if promised > 1e-9 || promised < -1e-9 {
				t.Errorf("pages for nothing are promised %v less", promised)
			}
			var rules []string
			for _, j := range cfg.ForRules().Jobs[1:] {
				rules = append(rules, j.Target.Name)
			}
			if diff := cmp.Diff(tc.rules, rules); diff != "" {
				t.Errorf("targets of rules (-want +got):\n%s", diff)
			}
			if cfg.Targets[1].Name != "m" || len(cfg.Jobs) != 2 {
				t.Error("the configuration itself was changed")
			}
		})
	}
}
