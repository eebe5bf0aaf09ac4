package kube

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// patch merges JSON into a Deployment.
func (c *cluster) patch(t *testing.T, namespace, name, json string) {
	t.Helper()
	_, err := c.AppsV1().Deployments(namespace).Patch(t.Context(), name, types.StrategicMergePatchType, []byte(json), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// scale sets the number of a Deployment's pods without waiting for them.
func (c *cluster) scale(t *testing.T, namespace, name string, replicas int) {
	t.Helper()
	c.patch(t, namespace, name, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
}

// awaitRollout waits until all pods of a Deployment have its newest template.
func (c *cluster) awaitRollout(t *testing.T, namespace, name string) {
	t.Helper()
	await(t, patience, "the rollout of "+name, func() error {
		d, err := c.AppsV1().Deployments(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		s := d.Status
		if s.ObservedGeneration < d.Generation || s.UpdatedReplicas != *d.Spec.Replicas || s.Replicas != *d.Spec.Replicas || s.AvailableReplicas != *d.Spec.Replicas {
			return fmt.Errorf("%d pods, %d of them new, %d available", s.Replicas, s.UpdatedReplicas, s.AvailableReplicas)
		}
		return nil
	})
}
