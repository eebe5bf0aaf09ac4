// Package chart tests the Helm chart in ../synthetic: it renders the chart with each values
// file under ci/ and decodes the result into the types of Kubernetes and of the Prometheus
// operator. It is a separate Go module, so that the product does not depend on these types.
// Run it with "make helm-lint", which builds Helm first.
package chart
