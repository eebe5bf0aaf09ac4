package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// paths returns the path of each value, sections included.
func paths(values map[string]any, to []string) (all [][]string) {
	for key, v := range values {
		path := append(to[:len(to):len(to)], key)
		all = append(all, path)
		if section, ok := v.(map[string]any); ok {
			all = append(all, paths(section, path)...)
		}
	}
	return all
}

// write writes a values file.
func write(t *testing.T, values any) (file string) {
	t.Helper()
	text, ok := values.(string)
	if !ok {
		b, err := yaml.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
	file = filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// helms renders with both versions of Helm, which must agree.
func helms(t *testing.T, dir string, args ...string) (out, errs string, err error) {
	t.Helper()
	out, errs, err = helmBy(t, "HELM", dir, args...)
	four, errs4, err4 := helmBy(t, "HELM4", dir, args...)
	if (err == nil) != (err4 == nil) || err == nil && sorted(out) != sorted(four) {
		t.Errorf("%q: Helm 3: %v %s\nHelm 4: %v %s", args, err, errs, err4, errs4)
	}
	return out, errs, err
}

// everything adds to ci/full-values.yaml the resources that it lacks.
const everything = `
rbac: {create: true}
ingress: {enabled: true, hosts: [a.example]}
httpRoute: {enabled: true, parentRefs: [{name: a}]}
dashboards: {operator: {enabled: true}, files: {a.json: "{}"}}
`

// TestNull removes each default value in turn, as Helm does for null. The rest renders, or the error names the value.
func TestNull(t *testing.T) {
	text, err := os.ReadFile(chartDir + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var defaults map[string]any
	if err := yaml.Unmarshal(text, &defaults); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths(defaults, nil) {
		t.Run(strings.Join(path, "."), func(t *testing.T) {
			t.Parallel()
			base, more := "full", everything
			switch path[0] {
			case "study":
				base, more = "study", ""
			case "podMonitor":
				more += "serviceMonitor: {enabled: false}\npodMonitor: {enabled: true}\n"
			}
			args := []string{"--values=" + chartDir + "/ci/" + base + "-values.yaml", "--values=" + write(t, more)}
			var value any
			for i := range path {
				value = map[string]any{path[len(path)-1-i]: value}
			}
			out, errs, err := helms(t, chartDir, append(args, "--values="+write(t, value))...)
			if err != nil && (!strings.Contains(errs, path[len(path)-1]) || strings.Contains(errs, "nil pointer") || strings.Contains(errs, "error calling")) {
				t.Errorf("the error does not name the value: %s", errs)
			}
			if err == nil {
				if err := sound(t, out); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
