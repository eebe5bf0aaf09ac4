package kube

import (
	"encoding/json"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// testSecondApplyChangesNothing applies the rendered chart twice with server-side apply.
// Defaults of the server must not look like drift to a tool that applies a repository every
// few minutes.
func testSecondApplyChangesNothing(t *testing.T, c *cluster, namespace string) {
	rendered := c.render(t, namespace, "drift", "--values="+chart+"/ci/full-values.yaml", "--no-hooks", "--set=replicaCount=0")
	first := map[string]string{}
	for _, object := range c.apply(t, namespace, rendered) {
		first[key(object)] = written(t, object)
	}
	if len(first) < 8 {
		t.Errorf("the chart with all options has %d objects", len(first))
	}
	for _, object := range c.apply(t, namespace, rendered) {
		if got := written(t, object); got != first[key(object)] {
			t.Errorf("a second apply changed %s:\n%s\nbefore:\n%s", key(object), got, first[key(object)])
		}
	}
}

func key(object *unstructured.Unstructured) string { return object.GetKind() + " " + object.GetName() }

// written returns the parts of an object that an apply would change: its generation, and
// the fields of the manager with their times. Controllers update the status all the time.
func written(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	var fields []metav1.ManagedFieldsEntry
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == manager {
			fields = append(fields, entry)
		}
	}
	if len(fields) != 1 {
		t.Errorf("%s has %d entries of the manager %q, want 1", key(object), len(fields), manager)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("generation %d, fields %s", object.GetGeneration(), text)
}
