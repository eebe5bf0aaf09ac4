// Package target describes deployments and how to reach them.
//
// A Target is a plain value. A reload compares old and new values to find changes.
package target

import (
	"reflect"
	"slices"
	"strings"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe/dialect"
)

// Connection is the lifetime of connections to a target.
type Connection string

const (
	// Reuse keeps idle connections and shares them between conversations.
	Reuse Connection = "reuse"
	// PerConversation opens a connection for each conversation, so that every first turn
	// includes DNS, connect and TLS, as for a new user.
	PerConversation Connection = "per_conversation"
)

// Salt selects which requests can share prompts in a prefix cache that supports cache_salt, as
// vLLM's does.
type Salt string

const (
	// SaltNone sends no salt. All requests share the cache.
	SaltNone Salt = "none"
	// SaltJob sends one salt for each job of this process.
	SaltJob Salt = "job"
	// SaltConversation sends one salt for each conversation, so that first turns are never
	// cached.
	SaltConversation Salt = "conversation"
)

// Target is one deployment.
type Target struct {
	// Name is the value of the "target" label.
	Name string
	API  dialect.Name
	// APIVersion is the version of an API that has versions. "" means a widely supported one.
	APIVersion string
	// BaseURL is the prefix of the API's paths, such as "http://vllm:8000/v1" for
	// "/chat/completions".
	BaseURL string
	// Model is sent in each request. "" means the first model that /models lists.
	Model string
	// ServedAs are other model names that an answer may have.
	ServedAs []string
	Key      Credential
	// Headers are added to each request. Do not print them: values may be secret.
	Headers map[string]string
	// HTTP configures TLS, proxies, other authentication and HTTP/2. Requests never follow
	// redirects.
	HTTP       promconfig.HTTPClientConfig
	Connection Connection
	// Extra holds fields that are added to every request body, as decoded from YAML (such as
	// ignore_eos or priority).
	Extra map[string]any
	// CacheSalt selects who shares the prefix cache. "" means SaltNone.
	CacheSalt Salt
	Session   Session
	// Service is the value of the "service" label: the service that the target is a replica
	// of. "" means none.
	Service string
	// Labels are added to all series of the target. There are at most MaxLabels.
	Labels map[string]string
}

// MaxLabels is the maximum number of Target.Labels.
const MaxLabels = 4

func (t Target) Equal(o Target) bool { return reflect.DeepEqual(t, o) }

// IsReservedLabel reports whether synthetic or Prometheus sets the label, so that a target
// cannot have it.
func IsReservedLabel(label string) bool {
	return strings.HasPrefix(label, "__") || slices.Contains([]string{
		"alertname", "alertstate", "backend", "bound", "branch", "budget_window", "cached", "cause", "change", "connection", "dashboard", "depth", "error", "finish_reason",
		"goarch", "goos", "goversion", "group",
		"instance", "job", "le", "level", "model", "part", "phase", "purpose", "quantile", "ratio", "reason", "result", "revision",
		"run", "scope", "service", "session", "severity", "signal", "sli", "slo", "source", "statistic", "tags", "target",
		"trace_id", "turn", "turns", "url", "variant", "verdict", "version", "window", "within", "worker", "workload",
	}, label)
}

// Session says how a router learns which requests belong to one conversation, and how it names the worker of an answer. The zero value
// tells it nothing.
type Session struct {
	// Header is the request header with the id of the conversation; "" means none.
	Header string
	// Echo are response headers whose latest value each later request of the conversation repeats.
	Echo []string
	// Worker is the response header that names the worker; "" means the headers of common routers.
	Worker string
}

// DefaultSession is the session of a target that configures none. Most routers hash this header.
func DefaultSession() Session { return Session{Header: "X-Session-Id"} }
