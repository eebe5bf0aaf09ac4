package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// pool is an InferencePool of all simulated pods of a namespace. Nothing routes to it,
// because an endpoint picker is missing.
func pool(name string) string {
	return fmt.Sprintf(`
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {part-of: simulation}}
  targetPorts: [{number: 8000}]
  endpointPickerRef: {name: %[1]s-picker, port: {number: 9002}}
`, name)
}

// discovering is a prober that discovers its targets in its namespace.
func discovering(namespace, configuration string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: ServiceAccount
metadata: {name: prober}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: prober}
rules:
  - {apiGroups: [""], resources: [pods, services], verbs: [list, watch]}
  - {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
  - {apiGroups: [inference.networking.k8s.io], resources: [inferencepools], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: prober}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: prober}
subjects: [{kind: ServiceAccount, name: prober, namespace: %[1]s}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: prober}
data:
  synthetic.yml: |%[2]s
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: prober}
spec:
  selector: {matchLabels: {app: prober}}
  template:
    metadata: {labels: {app: prober}}
    spec:
      serviceAccountName: prober
      terminationGracePeriodSeconds: 5
      volumes: [{name: config, configMap: {name: prober}}, {name: state, emptyDir: {}}]%[3]s
          image: synthetic
          args: [run, --config.file=/etc/synthetic/synthetic.yml, "--web.listen-address=:9877", --shutdown.timeout=3s]
          volumeMounts: [{name: config, mountPath: /etc/synthetic}, {name: state, mountPath: /var/lib/synthetic}]
          readinessProbe: {httpGet: {path: /-/ready, port: 9877}, periodSeconds: 1}
`, namespace, strings.ReplaceAll(configuration, "\n", "\n    "), restricted)
}

// everyPod probes the pods of InferencePools with short conversations.
const everyPod = `
discovery: [{name: replicas, preset: inferencepool}]
workloads:
  - {name: short, prompt_tokens: 50, max_output_tokens: 8, turns: {min: 1, max: 1}, timeouts: {first_token: 10s, stall: 5s, total: 20s}}
traffic:
  - {targets: "*", workload: short, arrival: {process: constant, rate: 0.5}}
`

// testDiscovery: a prober with the rights of its own service account discovers the pods of
// an InferencePool. They scale from four to forty and back and are all replaced. Each time
// the prober probes the present pods and has no series of others.
func testDiscovery(t *testing.T, c *cluster, namespace string) {
	c.apply(t, namespace, simulated("pool", 4)+"---"+pool("pool"))
	c.apply(t, namespace, discovering(namespace, everyPod))
	prober := c.awaitPods(t, namespace, "app=prober", 1)[0].Status.PodIP
	for _, n := range []int{4, 40, 4} {
		c.scale(t, namespace, "pool", n)
		c.awaitTargets(t, prober, c.awaitPods(t, namespace, "app=pool", n))
	}
	c.patch(t, namespace, "pool", `{"spec":{"template":{"metadata":{"annotations":{"rolled":"once"}}}}}`)
	c.awaitRollout(t, namespace, "pool")
	c.awaitTargets(t, prober, c.awaitPods(t, namespace, "app=pool", 4))
}

// awaitTargets waits until a prober has had a successful turn with each of the pods and has
// series of no others.
func (c *cluster) awaitTargets(t *testing.T, prober string, pods []corev1.Pod) {
	t.Helper()
	await(t, patience, fmt.Sprintf("turns with %d pods", len(pods)), func() error {
		got, err := turns(t.Context(), prober+":9877")
		if err != nil {
			return err
		}
		names := slices.Sorted(maps.Keys(got))
		if len(names) != len(pods) {
			return fmt.Errorf("the prober has %d targets: %v", len(names), names)
		}
		for _, pod := range pods {
			i := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, pod.Name) })
			if i < 0 {
				return fmt.Errorf("pod %s is not a target: %v", pod.Name, names)
			}
			if n := got[names[i]]; n.ended-n.failed < 1 {
				return fmt.Errorf("no turn with %s has succeeded yet", pod.Name)
			}
		}
		return nil
	})
}
