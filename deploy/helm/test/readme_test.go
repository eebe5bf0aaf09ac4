package chart

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(chartDir + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// keys returns the paths of all leaves; an empty mapping counts as a leaf.
func keys(prefix string, v any) []string {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 || prefix == "dashboards.labels." {
		return []string{strings.TrimSuffix(prefix, ".")}
	}
	var all []string
	for key, value := range m {
		all = append(all, keys(prefix+key+".", value)...)
	}
	return all
}

// whole lists mappings that the README describes as one value.
var whole = []string{"livenessProbe", "readinessProbe", "resources", "podSecurityContext", "securityContext", "strategy", "rbac.rules", "dashboards.operator.instanceSelector", "test.resources"}

func TestReadmeListsTheValues(t *testing.T) {
	text, err := os.ReadFile(chartDir + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.UnmarshalStrict(text, &values); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, key := range keys("", values) {
		for _, w := range whole {
			if strings.HasPrefix(key, w+".") {
				key = w
			}
		}
		want = append(want, key)
	}
	slices.Sort(want)
	want = slices.Compact(want)

	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Za-z.]+)` \\|").FindAllStringSubmatch(readme(t), -1) {
		got = append(got, row[1])
	}
	slices.Sort(got)
	for _, key := range want {
		if !slices.Contains(got, key) {
			t.Errorf("the README does not list %s", key)
		}
	}
	for _, key := range got {
		if !slices.Contains(want, key) {
			t.Errorf("the README lists %s, which is no value", key)
		}
	}
}
