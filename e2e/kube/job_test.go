package kube

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// indexed is a Job of pods that know their number and reach each other through a headless
// Service. container has further fields of the container, which has $JOB_COMPLETION_INDEX.
func indexed(name string, completions int, container string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: %[1]s}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {batch.kubernetes.io/job-name: %[1]s}
---
apiVersion: batch/v1
kind: Job
metadata: {name: %[1]s}
spec:
  completionMode: Indexed
  completions: %[2]d
  parallelism: %[2]d
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      subdomain: %[1]s
      volumes: [{name: results, emptyDir: {}}]%[4]s
          volumeMounts: [{name: results, mountPath: /results}]
%[3]s
`, name, completions, indent(container), restricted)
}

func indent(text string) string {
	return "          " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n          ")
}

// awaitJob waits until a Job has succeeded.
func (c *cluster) awaitJob(t *testing.T, namespace, name string) {
	t.Helper()
	await(t, patience, "the Job "+name, func() error {
		job, err := c.BatchV1().Jobs(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range job.Status.Conditions {
			if condition.Type == batchv1.JobFailed && condition.Status == "True" {
				t.Fatalf("the Job %s failed: %s", name, condition.Message)
			}
			if condition.Type == batchv1.JobComplete && condition.Status == "True" {
				return nil
			}
		}
		return fmt.Errorf("%d pods of the Job are active, %d have succeeded", job.Status.Active, job.Status.Succeeded)
	})
}

// testIndexedJob runs three simultaneous pods. Each prints its number.
func testIndexedJob(t *testing.T, c *cluster, namespace string) {
	c.apply(t, namespace, indexed("shards", 3, `
image: host
command: [sh, -c, 'echo "shard $JOB_COMPLETION_INDEX of 3 on $(hostname)"']
`))
	c.awaitJob(t, namespace, "shards")
	pods, err := c.pods(t.Context(), namespace, "batch.kubernetes.io/job-name=shards")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, pod := range pods {
		got[c.log(t, pod)] = true
	}
	for i := range 3 {
		if want := fmt.Sprintf("main: shard %d of 3 on shards-%d\n", i, i); !got[want] {
			t.Errorf("no pod printed %q; output %v", want, got)
		}
	}
}
