package kube

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// applyResources creates the custom resource definitions that e2e/kube/run collected from
// modules, and the definitions in testdata.
func (c *cluster) applyResources(t *testing.T) {
	t.Helper()
	var files []string
	for _, pattern := range []string{filepath.Join(mustEnv(t, "KUBE_CRDS"), "*", "*.yaml"), "testdata/*-crd.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no file matches %q (%v)", pattern, err)
		}
		files = append(files, found...)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, applied := range c.apply(t, "", string(text)) {
			if applied.GetKind() == "CustomResourceDefinition" {
				names = append(names, applied.GetName())
			}
		}
	}
	for _, name := range names {
		c.awaitEstablished(t, name)
	}
	c.mapper.Reset()
}

func (c *cluster) awaitEstablished(t *testing.T, name string) {
	t.Helper()
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	await(t, patience, "custom resource "+name, func() error {
		crd, err := c.dynamic.Resource(definitions).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
		if err != nil {
			return err
		}
		for _, condition := range conditions {
			if m, ok := condition.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("the conditions are %v", conditions)
	})
}
