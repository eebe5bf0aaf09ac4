package kube

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// proberOf returns the label selector of a release's pods.
func proberOf(release string) string {
	return "app.kubernetes.io/component=prober,app.kubernetes.io/instance=" + release
}

// probing returns values for a release that probes Services of its namespace.
func probing(namespace string, targets ...string) string {
	text := "image: {repository: synthetic}\nconfig:\n  targets:\n"
	for _, target := range targets {
		text += fmt.Sprintf("    - {name: %s, base_url: 'http://%s.%s.svc:8000/v1'}\n", target, target, namespace)
	}
	return text + `
  workloads:
    - {name: short, prompt_tokens: 50, max_output_tokens: 8, turns: {min: 1, max: 1}, timeouts: {first_token: 10s, stall: 5s, total: 20s}}
  traffic:
    - {targets: [` + strings.Join(targets, ", ") + `], workload: short, arrival: {process: constant, rate: 2}}
readinessProbe: {periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 3}
`
}

// testChart installs, upgrades, rolls back and removes a release: its prober probes one
// Service, then another, then the first again, and in the end nothing of the release is
// left.
func testChart(t *testing.T, c *cluster, namespace string) {
	c.apply(t, namespace, simulated("chat", 2))
	c.apply(t, namespace, simulated("code", 1))
	c.awaitPods(t, namespace, "app", 3)
	c.install(t, namespace, "prober", probing(namespace, "chat"))
	first := c.awaitTurns(t, namespace, "prober", "chat")

	c.install(t, namespace, "prober", probing(namespace, "chat"))
	if again := c.prober(t, namespace, "prober"); again.UID != first.UID {
		t.Errorf("an upgrade that changes nothing replaced pod %s", first.UID)
	}
	c.install(t, namespace, "prober", probing(namespace, "chat", "code"))
	second := c.awaitTurns(t, namespace, "prober", "chat", "code")
	if second.UID == first.UID {
		t.Errorf("an upgrade with other targets kept pod %s", first.UID)
	}
	c.helm(t, namespace, "rollback", "prober", "2", "--wait")
	c.awaitTurns(t, namespace, "prober", "chat")
	t.Log(c.helm(t, namespace, "test", "prober", "--logs=false"))

	c.helm(t, namespace, "uninstall", "prober", "--wait")
	c.checkUninstalled(t, namespace, "prober")
}

// prober returns the only pod of a release.
func (c *cluster) prober(t *testing.T, namespace, release string) corev1.Pod {
	t.Helper()
	return c.awaitPods(t, namespace, proberOf(release), 1)[0]
}

// awaitTurns waits until a prober has had ten successful turns with each of the targets,
// and checks that it has series of no others. The first turns may fail, because a pod
// becomes ready before kube-proxy routes to it.
func (c *cluster) awaitTurns(t *testing.T, namespace, release string, targets ...string) corev1.Pod {
	t.Helper()
	pod := c.prober(t, namespace, release)
	await(t, patience, "turns with "+strings.Join(targets, " and "), func() error {
		got, err := turns(t.Context(), pod.Status.PodIP+":9877")
		if err != nil {
			return err
		}
		if len(got) != len(targets) {
			return fmt.Errorf("turns by target: %v", got)
		}
		for _, target := range targets {
			if got[target].ended-got[target].failed < 10 {
				return fmt.Errorf("turns by target: %v", got)
			}
		}
		return nil
	})
	return pod
}

// checkUninstalled checks that nothing of a release is left except its volume claims, which
// Kubernetes keeps.
func (c *cluster) checkUninstalled(t *testing.T, namespace, release string) {
	t.Helper()
	selector := metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + release}
	for _, resource := range []string{"v1/pods", "v1/configmaps", "v1/services", "v1/serviceaccounts", "apps/v1/statefulsets", "apps/v1/deployments"} {
		list, err := c.dynamic.Resource(resourceNamed(resource)).Namespace(namespace).List(t.Context(), selector)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range list.Items {
			if object.GetDeletionTimestamp() == nil {
				t.Errorf("uninstalling left %s", key(&object))
			}
		}
	}
}
