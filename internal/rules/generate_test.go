package rules_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

func TestGenerateRefuses(t *testing.T) {
	good := usual().Jobs
	for _, tt := range []struct {
		name string
		in   rules.Input
		want string
	}{
		{"no jobs", rules.Input{}, `no traffic: add an entry under "traffic", because the windows of alerts depend on its rate`},
		{
			"a job twice", rules.Input{Jobs: append(good, good...)},
			`traffic: target "a", workload "chat" is listed 2 times: merge the entries, which would have the same series`,
		},
		{
			"no name", rules.Input{Jobs: good, SLOs: []slo.Objective{{Objective: 0.9, Window: day}}},
			`slos[0] "": the name must be set and unique, since it is the value of the slo label`,
		},
		{
			"a severity label that is taken", rules.Input{Jobs: good, Severities: rules.Severities{Label: "target"}},
			`severity label "target": write the name of a label that the alerts do not have, for example severity`,
		},
		{
			"one value for both", rules.Input{Jobs: good, Severities: rules.Severities{Page: "high", Ticket: "high"}},
			`severity "high" is the value for pages and for tickets: give them different values`,
		},
		{
			"a name twice", rules.Input{Jobs: good, SLOs: []slo.Objective{ttft, ttft}},
			`slos[1] "ttft": the name must be set and unique, since it is the value of the slo label`,
		},
		{
			"objective in percent", rules.Input{Jobs: good, SLOs: []slo.Objective{{Name: "x", Objective: 99, Window: day}}},
			`slos[0] "x": objective 99: write a share of good turns between 0 and 1, for example 0.99`,
		},
		{
			"no window", rules.Input{Jobs: good, SLOs: []slo.Objective{{Name: "x", Objective: 0.99}}},
			`slos[0] "x": window 0s: write at least 1h, usually 30d`,
		},
		{
			"covers nothing", rules.Input{Jobs: good, SLOs: []slo.Objective{{Name: "x", Objective: 0.99, Window: day, Targets: []string{"b"}}}},
			`slos[0] "x": covers none of the 1 probed pairs of target and workload: correct its targets and workloads, or add traffic`,
		},
		{
			"no page is left", rules.Input{Jobs: good, SLOs: []slo.Objective{{Name: "x", Objective: 0.99, Window: day}}},
			`slo "x", target "a", workload "chat": no page is possible: ` +
				`the tier over 1h: spending 2 % of a budget of 1d in 1h is no faster than allowed; use a window of at least 2d2h; ` +
				`the tier over 6h: spending 5 % of a budget of 1d in 6h is no faster than allowed; use a window of at least 5d`,
		},
		{
			"too few turns for one job of two",
			rules.Input{
				Jobs: append(good, rules.Job{Target: "b", Workload: "chat", TurnsPerMinute: 0.01, ConversationsPerMinute: 0.01}),
				SLOs: []slo.Objective{{Name: "x", SLI: slo.Availability, Objective: 0.999, Window: 30 * day}},
			},
			`slo "x", target "b", workload "chat": no page is possible: ` +
				`the tier over 1h: at 0.01 turns per minute the budget of 30d is only 0.432 bad turns, and an alert needs 5; raise the rate or lower the objective; ` +
				`the tier over 6h: at 0.01 turns per minute the budget of 30d is only 0.432 bad turns, and an alert needs 5; raise the rate or lower the objective`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := rules.Generate(tt.in)
			if err == nil {
				t.Fatal("got no error")
			}
			if err.Error() != tt.want {
				t.Errorf("error is\n%s\nwant\n%s", err, tt.want)
			}
		})
	}
}

// TestGenerateQuotes uses names with characters that are special in PromQL, regular expressions, templates
// or YAML.
func TestGenerateQuotes(t *testing.T) {
	const nasty = "a\"b\\c|d.*{{ .Labels }} #'\n: é"
	in := usual()
	in.Jobs = append(in.Jobs,
		rules.Job{Target: nasty, Workload: nasty},
		rules.Job{Target: nasty, Workload: "chat", TurnsPerMinute: 0.5})
	in.SLOs = append(in.SLOs, slo.Objective{Name: nasty, SLI: slo.Availability, Objective: 0.99, Window: 30 * day})
	h := newHouse(t, in, 1)
	h.run(3 * time.Minute)
	if got := h.firing(); len(got) > 0 {
		t.Errorf("after three healthy minutes %q fire", got)
	}
}

// TestSeverities: the label and the values of severities can be configured.
func TestSeverities(t *testing.T) {
	for name, tc := range map[string]struct {
		in   rules.Severities
		want string // label and value of a page, and of a ticket
	}{
		"by default":         {rules.Severities{}, "severity page ticket"},
		"of kube-prometheus": {rules.KubePrometheus(), "severity critical warning"},
		"custom":             {rules.Severities{Label: "urgency", Page: "critical", Ticket: "low"}, "urgency critical low"},
	} {
		t.Run(name, func(t *testing.T) {
			in := usual()
			in.Severities = tc.in
			words := strings.Fields(tc.want)
			got := map[string]bool{}
			for _, g := range generate(t, in).Groups.Groups {
				for _, r := range g.Rules {
					if r.Alert != "" {
						got[r.Labels[words[0]]] = true
					}
				}
			}
			if len(got) != 2 || !got[words[1]] || !got[words[2]] {
				t.Errorf("values of the label %q: %v, want %q", words[0], got, words[1:])
			}
		})
	}
}

// TestOneTargetIsNotMuch: the rules for one target are small compared with those of a cluster.
func TestOneTargetIsNotMuch(t *testing.T) {
	in := withSLOs(ttft, available, slo.Objective{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: 30 * day})()
	in.Jobs[0].ServerMetrics = false
	in.DashboardURL = ""
	text, err := generate(t, in).PrometheusYAML()
	if err != nil || len(text) > 57_450 {
		t.Errorf("with runbooks, the rules take %d bytes (%v)", len(text), err)
	}
	in.RunbookURL = ""
	if text, err = generate(t, in).PrometheusYAML(); err != nil || len(text) > 55_050 {
		t.Errorf("without links, the rules take %d bytes (%v)", len(text), err)
	}
}

// TestOutputIsReadable: the YAML has a header, no binary noise in numbers and no escaped line ends.
func TestOutputIsReadable(t *testing.T) {
	text, err := generate(t, fixed()).PrometheusYAML()
	if err != nil {
		t.Fatal(err)
	}
	if noise := regexp.MustCompile(`[0-9]\.[0-9]*(0000|9999)[0-9]`).FindAll(text, -1); len(noise) > 0 {
		t.Errorf("float noise: %q", noise)
	}
	if !strings.HasPrefix(string(text), "# Generated by \"synthetic generate rules\"") {
		t.Errorf("no header, but %q", text[:60])
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.TrimRight(line, " \t") != line {
			t.Errorf("line %d ends with white space: %q", i+1, line)
		}
		if strings.Contains(line, `\n`) {
			t.Errorf("line %d has an escaped line end: %q", i+1, line)
		}
	}
}

func TestGenerateIsRepeatable(t *testing.T) {
	first, err := generate(t, fixed()).PrometheusYAML()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := generate(t, fixed()).PrometheusYAML()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, again) {
			t.Fatal("two runs differ")
		}
	}
}

// TestResourceHoldsTheSameRules compares the resource with the rule file.
func TestResourceHoldsTheSameRules(t *testing.T) {
	r := generate(t, fixed())
	plain, err := r.PrometheusYAML()
	if err != nil {
		t.Fatal(err)
	}
	resource, err := r.Resource("probes", map[string]string{"release": "main"})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct {
			Name   string
			Labels map[string]string
		}
		Spec any
	}
	var spec any
	if err := yaml.Unmarshal(plain, &spec); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(resource, &got); err != nil {
		t.Fatal(err)
	}
	if got.APIVersion != "monitoring.coreos.com/v1" || got.Kind != "PrometheusRule" || got.Metadata.Name != "probes" || got.Metadata.Labels["release"] != "main" {
		t.Errorf("resource is headed %+v", got)
	}
	a, _ := yaml.Marshal(spec)
	b, _ := yaml.Marshal(got.Spec)
	if !bytes.Equal(a, b) {
		t.Error("the spec of the resource is not the rule file")
	}
}
