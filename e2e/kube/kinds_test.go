package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testEveryKindIsAccepted: the API server accepts what the chart renders for each of its
// examples, in a dry run. It checks fields, values and pod security, whose complaints are
// warnings.
func testEveryKindIsAccepted(t *testing.T, c *cluster, namespace string) {
	c.namespace(t, "grafana") // an example creates dashboards there
	examples, err := filepath.Glob(chart + "/ci/*-values.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("the chart has no examples (%v)", err)
	}
	kinds := map[string]bool{}
	for _, example := range examples {
		t.Run(strings.TrimSuffix(filepath.Base(example), "-values.yaml"), func(t *testing.T) {
			before := c.warnings.count()
			for _, object := range objects(t, c.render(t, namespace, "dry", "--values="+example)) {
				_, err := c.applyObject(t.Context(), namespace, object, metav1.ApplyOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}})
				if err != nil {
					t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
				kinds[object.GetKind()] = true
			}
			for _, warning := range c.warnings.since(before) {
				t.Errorf("the API server warns: %s", warning)
			}
		})
	}
	for _, kind := range chartKinds(t) {
		if !kinds[kind] {
			t.Errorf("no example renders a %s, which the chart has a template for", kind)
		}
	}
	t.Logf("accepted kinds: %v", kinds)
}

// chartKinds returns the kinds of the templates.
func chartKinds(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(chart + "/templates/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if kind, ok := strings.CutPrefix(strings.TrimSpace(line), "kind: "); ok && line[0] == 'k' && !strings.Contains(kind, "{{") {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}
