// Package chart tests the Helm chart in ../synthetic: it renders the chart with
// each file of values under ci/ and reads the result with the types of
// Kubernetes and of the Prometheus operator. It is a module of its own, so that
// those types stay out of the sidecar's dependencies. Run it with "make
// helm-lint", which builds what it needs.
package chart
