//go:build !kubernetes

package config

// hasKubernetes reports whether this build can discover targets in Kubernetes.
const hasKubernetes = false
