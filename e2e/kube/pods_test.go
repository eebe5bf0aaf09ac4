package kube

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// restricted holds the fields that the restricted pod security standard requires.
const restricted = `
      securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: main
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}`

// simulated is a simulated deployment with a headless Service and a Service with an
// address, all with one name. flags are flags of "synthetic simulate"; the default is quick.
// All pods of a namespace share the label part-of.
func simulated(name string, replicas int, flags ...string) string {
	if flags == nil {
		flags = []string{"--engine=inter_token=5ms,first_token=20ms"}
	}
	args := ""
	for _, flag := range flags {
		args += fmt.Sprintf("\n            - %q", flag)
	}
	return fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: %[1]s}
spec:
  selector: {app: %[1]s}
  ports: [{name: http, port: 8000}]
---
apiVersion: v1
kind: Service
metadata: {name: %[1]s-pods}
spec:
  clusterIP: None
  selector: {app: %[1]s}
  ports: [{name: http, port: 8000}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s, part-of: simulation}}
    spec:
      terminationGracePeriodSeconds: 5%[4]s
          image: synthetic
          args:
            - simulate
            - --web.listen-address=:8000
            - --engine=answer_tokens=8%[3]s
          ports: [{name: http, containerPort: 8000}]
          readinessProbe: {httpGet: {path: /health, port: http}, periodSeconds: 1}
`, name, replicas, args, restricted)
}

// testPodsRoll replaces sixteen pods. Each new pod has a new address, and the
// EndpointSlices follow.
func testPodsRoll(t *testing.T, c *cluster, namespace string) {
	c.apply(t, namespace, simulated("pool", 16))
	before := addresses(c.awaitPods(t, namespace, "app=pool", 16))
	c.awaitEndpoints(t, namespace, "pool-pods", before)
	c.patch(t, namespace, "pool", `{"spec":{"template":{"metadata":{"annotations":{"rolled":"once"}}}}}`)
	c.awaitRollout(t, namespace, "pool")
	after := addresses(c.awaitPods(t, namespace, "app=pool", 16))
	for _, address := range after {
		if slices.Contains(before, address) {
			t.Errorf("the address %s had another pod before", address)
		}
	}
	c.awaitEndpoints(t, namespace, "pool-pods", after)
}

// testScale scales from four pods to forty and back. No endpoints of removed pods remain.
func testScale(t *testing.T, c *cluster, namespace string) {
	c.apply(t, namespace, simulated("pool", 4))
	for _, n := range []int{4, 40, 4} {
		c.scale(t, namespace, "pool", n)
		c.awaitEndpoints(t, namespace, "pool-pods", addresses(c.awaitPods(t, namespace, "app=pool", n)))
	}
}

// addresses returns the sorted addresses of pods.
func addresses(pods []corev1.Pod) []string {
	var all []string
	for _, pod := range pods {
		all = append(all, pod.Status.PodIP)
	}
	slices.Sort(all)
	return all
}

// awaitEndpoints waits until a Service's ready endpoints are exactly the addresses.
func (c *cluster) awaitEndpoints(t *testing.T, namespace, service string, want []string) {
	t.Helper()
	await(t, patience, "the endpoints of "+service, func() error {
		list, err := c.DiscoveryV1().EndpointSlices(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service})
		if err != nil {
			return err
		}
		var got []string
		for _, slice := range list.Items {
			for _, endpoint := range slice.Endpoints {
				if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
					got = append(got, endpoint.Addresses...)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("the endpoints are %v, want %v", got, want)
		}
		return nil
	})
}
