// Package kube installs the chart in a real cluster: Kubernetes' own servers and kubelet,
// whose containers are processes of this machine. The tests run in a network of their own
// without a way out; e2e/kube/run creates it, and docs/background/e2e-kube.md describes
// what is tested.
package kube
