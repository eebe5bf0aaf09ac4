// Package kube installs the chart in a real cluster: Kubernetes' own servers and
// kubelet, whose containers are processes of this machine. The tests run in a network
// of their own that leads nowhere; e2e/kube/run makes it, and docs/background/e2e-kube.md
// says what is proven and what is not.
package kube
