package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster is a running cluster of one node.
type cluster struct {
	servers
	*kubernetes.Clientset
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
	// warnings of the API server for apply
	warnings *warnings
}

func (s servers) client(t *testing.T, user string) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig(t, user))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// startCluster returns a cluster with a ready node and the custom resources of the chart
// and the discovery.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{servers: startServers(t), warnings: &warnings{}}
	c.Clientset = c.client(t, "admin")
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig(t, "admin"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.WarningHandler = -1, c.warnings
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Discovery()))
	c.applyResources(t)
	c.provision(t)
	await(t, patience, "the node", func() error {
		node, err := c.CoreV1().Nodes().Get(t.Context(), nodeName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
				return errors.New(condition.Message)
			}
		}
		return nil
	})
	return c
}

// namespace creates a namespace that enforces the restricted pod security standard. It is
// removed at the end of the test and has to become empty.
func (c *cluster) namespace(t *testing.T, name string) string {
	t.Helper()
	_, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.explain(t, name)
		}
		ctx := context.Background()
		if err := c.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		await(t, patience, "the end of namespace "+name, func() error {
			_, err := c.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("it still exists: %v", err)
		})
	})
	return name
}

// pods returns the pods of a selector that are not being deleted, sorted by name.
func (c *cluster) pods(ctx context.Context, namespace, selector string) ([]corev1.Pod, error) {
	list, err := c.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	var living []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			living = append(living, pod)
		}
	}
	return living, nil
}

// awaitPods waits until exactly n pods exist and all are ready, and returns them.
func (c *cluster) awaitPods(t *testing.T, namespace, selector string, n int) []corev1.Pod {
	t.Helper()
	var pods []corev1.Pod
	await(t, patience, fmt.Sprintf("%d pods with %s", n, selector), func() error {
		list, err := c.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return err
		}
		pods = list.Items
		var ready int
		for _, pod := range pods {
			if isReady(pod) {
				ready++
			}
		}
		if len(pods) != n || ready != n {
			return fmt.Errorf("%d pods, %d of them ready", len(pods), ready)
		}
		return nil
	})
	return pods
}

func isReady(pod corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// log returns the output of a pod's containers from the files of the kubelet.
func (c *cluster) log(t *testing.T, pod corev1.Pod) string {
	t.Helper()
	return readLogs(t, c.logs, pod)
}

// explain logs the objects of a failed test's namespace.
func (c *cluster) explain(t *testing.T, namespace string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	list, err := c.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Log(err)
		return
	}
	for _, pod := range list.Items {
		t.Logf("pod %s: %s %s", pod.Name, pod.Status.Phase, pod.Status.Message)
		for _, s := range pod.Status.ContainerStatuses {
			t.Logf("  container %s: %v, restarts %d, last %v", s.Name, s.State, s.RestartCount, s.LastTerminationState)
		}
		t.Log(c.log(t, pod))
	}
	events, err := c.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Log(err)
		return
	}
	var lines []string
	for _, e := range events.Items {
		lines = append(lines, fmt.Sprintf("%s %s: %s", e.InvolvedObject.Name, e.Reason, e.Message))
	}
	t.Logf("events:\n%s", strings.Join(lines, "\n"))
}
