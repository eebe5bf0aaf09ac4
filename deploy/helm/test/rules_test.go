package chart

import (
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

// generated writes the rules for the rendered configuration into a directory and returns
// its path.
func generated(t *testing.T, values string, flags ...string) string {
	t.Helper()
	t.Setenv("CANARY_KEY", "secret")
	dir := mountedConfig(t, render(t, "--values="+values))
	args := append([]string{"generate", "rules", "--config.file=" + dir + "/synthetic.yml", "--output.dir=" + dir}, flags...)
	out, err := exec.CommandContext(t.Context(), tool(t, "SYNTHETIC"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("synthetic generate rules: %v\n%s", err, out)
	}
	return dir
}

// groupNames parses the rules of a PrometheusRule as Prometheus does.
func groupNames(t *testing.T, o object) []string {
	t.Helper()
	var rule struct{ Spec map[string]any }
	if err := yaml.Unmarshal(o.text, &rule); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(rule.Spec)
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(text, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatalf("Prometheus refuses the rules: %v\n%s", errs, text)
	}
	var names []string
	for _, g := range groups.Groups {
		names = append(names, g.Name)
	}
	return names
}

func TestGeneratedRulesGoIntoTheResource(t *testing.T) {
	values := chartDir + "/ci/full-values.yaml"
	dir := generated(t, values)
	for _, file := range []string{"synthetic-rules.yml", "prometheusrule.yaml"} {
		objects := render(t, "--values="+values, "--set-file=prometheusRule.rulesFile="+filepath.Join(dir, file))
		names := groupNames(t, single(t, objects, "PrometheusRule"))
		all := strings.Join(names, " ")
		if len(names) < 3 || names[0] != "by-hand" || !strings.Contains(all, "synthetic-incident") {
			t.Errorf("%s: groups %v, want those of the values and those of the file", file, names)
		}
	}
}

func TestRulesByHandAlone(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/full-values.yaml")
	if names := groupNames(t, single(t, objects, "PrometheusRule")); len(names) != 1 {
		t.Errorf("groups %v, want one", names)
	}
}

func TestRulesOfAnotherConfigurationAreRefused(t *testing.T) {
	dir := generated(t, chartDir+"/ci/minimal-values.yaml")
	_, errs, err := helm(t, "--values="+chartDir+"/ci/full-values.yaml", "--set-file=prometheusRule.rulesFile="+dir+"/synthetic-rules.yml")
	if want := `does not know the SLO "up" of the configuration`; err == nil || !strings.Contains(errs, want) {
		t.Errorf("err = %v, stderr:\n%s\nwant %q", err, errs, want)
	}
}
