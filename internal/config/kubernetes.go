//go:build kubernetes

package config

import _ "github.com/prometheus/prometheus/discovery/kubernetes" // registers itself in prom.Configs

// hasKubernetes reports whether this build can discover targets in Kubernetes. The client for its API
// takes much of a binary's size.
const hasKubernetes = true
