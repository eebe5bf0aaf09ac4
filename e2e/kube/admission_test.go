package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testRestricted: the namespaces of these tests refuse pods that are not restricted. A pod
// of the chart that runs in one is therefore restricted.
func testRestricted(t *testing.T, c *cluster, namespace string) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "root"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "root", Image: "host", Command: []string{"id"}}}},
	}
	_, err := c.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("a pod that runs as root got %v", err)
	}
}
