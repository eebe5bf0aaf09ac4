package chart

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// keys returns the paths of all leaves; an empty mapping is one.
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

// whole are mappings that the README describes as one value.
var whole = []string{"livenessProbe", "readinessProbe", "resources", "podSecurityContext", "securityContext", "strategy", "test.resources"}

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

// TestSidecarSnippetsAreRestricted reads the snippets for other people's pods:
// those that begin with "containers:" or "initContainers:".
func TestSidecarSnippetsAreRestricted(t *testing.T) {
	snippets := regexp.MustCompile("(?s)```yaml\n((?:initC|c)ontainers:\n.*?)```").FindAllStringSubmatch(readme(t), -1)
	if len(snippets) != 2 {
		t.Fatalf("%d snippets, want an ordinary container and a native sidecar", len(snippets))
	}
	for _, snippet := range snippets {
		var spec core.PodSpec
		if err := decodeStrict([]byte(snippet[1]), &spec); err != nil {
			t.Fatalf("%v\n%s", err, snippet[1])
		}
		no := false
		spec.AutomountServiceAccountToken = &no
		restricted(t, &meta.ObjectMeta{}, &spec)
		for _, c := range append(spec.Containers, spec.InitContainers...) {
			if c.ReadinessProbe != nil {
				t.Errorf("container %s could take the engine's pod out of its Service", c.Name)
			}
		}
	}
}
