package kube

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// study holds the values of a sweep whose two levels take half a minute.
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
`

// testStudy runs a sweep as the chart's Job and deletes its pod. The next pod continues the sweep.
func testStudy(t *testing.T, c *cluster, namespace string) {
	c.apply(t, namespace, simulated("chat", 1))
	c.helm(t, namespace, "install", "sweep", chart, "--values="+writeTemp(t, study))
	const pods = "batch.kubernetes.io/job-name=sweep-synthetic"
	first := c.awaitPods(t, namespace, pods, 1)[0]
	await(t, patience, "the second level", func() error {
		if log := c.log(t, first); !strings.Contains(log, "[2/2]") {
			return fmt.Errorf("the log is %q", log)
		}
		return nil
	})
	if err := c.CoreV1().Pods(namespace).Delete(t.Context(), first.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c.awaitJob(t, namespace, "sweep-synthetic")
	t.Logf("finished %v after pod %s was deleted", time.Since(began).Round(time.Second), first.Name)
}
