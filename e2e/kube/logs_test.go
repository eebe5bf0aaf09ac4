package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// readLogs returns the lines of all containers of a pod after the names of their files,
// without the timestamps of the container runtime.
func readLogs(t *testing.T, logs string, pod corev1.Pod) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(logs, "pods", pod.Namespace+"_"+pod.Name+"_"+string(pod.UID), "*", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			_, words, _ := strings.Cut(line, " stdout F ")
			all.WriteString(filepath.Base(filepath.Dir(file)) + ": " + words)
		}
	}
	return all.String()
}
