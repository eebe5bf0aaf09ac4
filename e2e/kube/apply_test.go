package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// manager is the field manager of apply.
const manager = "e2e"

// apply applies YAML documents with server-side apply and returns the resulting objects.
func (c *cluster) apply(t *testing.T, namespace, text string) []*unstructured.Unstructured {
	t.Helper()
	var applied []*unstructured.Unstructured
	for _, object := range objects(t, text) {
		got, err := c.applyObject(t.Context(), namespace, object, metav1.ApplyOptions{FieldManager: manager, Force: true})
		if err != nil {
			t.Fatalf("applying %s %s: %v", object.GetKind(), object.GetName(), err)
		}
		applied = append(applied, got)
	}
	return applied
}

func (c *cluster) applyObject(ctx context.Context, namespace string, object *unstructured.Unstructured, options metav1.ApplyOptions) (*unstructured.Unstructured, error) {
	client, err := c.resource(namespace, object)
	if err != nil {
		return nil, err
	}
	return client.Apply(ctx, object.GetName(), object, options)
}

// resource returns the client for an object's kind. An object without a namespace is in the
// given one.
func (c *cluster) resource(namespace string, object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) { // a new custom resource
		c.mapper.Reset()
		mapping, err = c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dynamic.Resource(mapping.Resource), nil
	}
	if object.GetNamespace() != "" {
		namespace = object.GetNamespace()
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(namespace), nil
}

// objects reads YAML documents.
func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := documents.Decode(object); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("reading YAML: %v\n%s", err, text)
		}
		if len(object.Object) > 0 {
			all = append(all, object)
		}
	}
}
