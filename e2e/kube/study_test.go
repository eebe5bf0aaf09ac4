package kube

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// study holds the values of a sweep with three pods whose two levels take half a minute.
const study = `
image: {repository: synthetic}
study:
  plan: |
    variants:
      - {name: now, base_url: http://chat:8000/v1}
    levels: {concurrency: [6, 12], start_rate: 20}
    warm_up: {duration: 3s}
    measure: {snapshots: 1, snapshot: 8s}
    workload: {turns: {min: 1, max: 1}, prompt_tokens: 50, max_output_tokens: 8}
  shards: 3
  barrier: {existingSecret: barrier}
`

// testStudy runs a sweep as the chart's Job and deletes one pod. Its replacement continues,
// and each shard leaves its part on the volume.
func testStudy(t *testing.T, c *cluster, namespace string) {
	c.apply(t, namespace, simulated("chat", 1))
	c.apply(t, namespace, "apiVersion: v1\nkind: Secret\nmetadata: {name: barrier}\nstringData: {token: 0123456789abcdef0123456789abcdef}\n")
	c.helm(t, namespace, "install", "sweep", chart, "--values="+writeTemp(t, study))
	const pods = "batch.kubernetes.io/job-name=sweep-synthetic"
	first := c.awaitPods(t, namespace, pods, 3)
	await(t, patience, "the second level", func() error {
		if log := c.log(t, first[0]); !strings.Contains(log, "[2/2]") {
			return fmt.Errorf("the log is %q", log)
		}
		return nil
	})
	lost := first[2]
	if err := c.CoreV1().Pods(namespace).Delete(t.Context(), lost.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c.awaitJob(t, namespace, "sweep-synthetic")
	t.Logf("finished %v after pod %s was deleted", time.Since(began).Round(time.Second), lost.Name)
	left, err := c.pods(t.Context(), namespace, pods)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]bool{}
	for _, pod := range left {
		for line := range strings.Lines(c.log(t, pod)) {
			if i := strings.Index(line, "this is the part of shard"); i >= 0 {
				parts[line[i:i+len("this is the part of shard 0 of 3")]] = true
			}
		}
	}
	for i := range 3 {
		if want := fmt.Sprintf("this is the part of shard %d of 3", i); !parts[want] {
			t.Errorf("no pod printed %q; output %v", want, parts)
		}
	}
}
