// Package target says which deployments are probed and how to reach them.
//
// A Target is a plain value: comparing two of them tells a reload whether
// anything about a deployment changed.
package target

import (
	"reflect"
	"time"

	promconfig "github.com/prometheus/common/config"
)

// Connection says how long a connection to a target lives.
type Connection string

const (
	// Reuse keeps idle connections and shares them between conversations.
	Reuse Connection = "reuse"
	// PerConversation dials anew for each conversation and closes afterwards,
	// so that every first turn pays for DNS, connect and TLS as a new user does.
	PerConversation Connection = "per_conversation"
)

// Salt says which requests may find each other's prompts in a prefix cache that
// heeds the field cache_salt, as vLLM's does.
type Salt string

const (
	// SaltNone sends no salt: everybody's requests share a cache.
	SaltNone Salt = "none"
	// SaltJob is one salt for the conversations of a job, of this process alone.
	SaltJob Salt = "job"
	// SaltConversation is one for each conversation: first turns find nothing.
	SaltConversation Salt = "conversation"
)

// Target is one deployment.
type Target struct {
	// Name is the value of the "target" label.
	Name string
	// API is the kind of endpoint, and Limit how it calls the limit of tokens.
	API   API
	Limit LimitField
	// APIVersion is Azure's api-version, or the anthropic-version of Messages; ""
	// is a version that all know.
	APIVersion string
	// BaseURL is what the paths of the API are appended to, "/chat/completions"
	// and "/models" for one: "http://vllm:8000/v1".
	BaseURL string
	// Model is sent in each request; empty means the first that /models lists.
	Model string
	// ServedAs are other names under which Model may answer.
	ServedAs []string
	// Key tells where the API key is; the zero value means no key.
	Key Credential
	// KeyHeader carries the key; "" is the header that the API has for it,
	// Authorization for most. In that one it stands behind "Bearer".
	KeyHeader string
	// Headers are added to each request. Values may be secret: never print them.
	Headers map[string]string
	// HTTP says how requests travel: TLS, proxies, further authentication, and
	// whether HTTP/2 may be spoken. It follows no redirects, whatever it says.
	HTTP promconfig.HTTPClientConfig
	// Connection is Reuse or PerConversation.
	Connection Connection
	// Extra holds body fields merged into every request, as decoded from YAML
	// (ignore_eos, priority, chat_template_kwargs ...).
	Extra map[string]any
	// ModelsTimeout bounds the discovery of Model.
	ModelsTimeout time.Duration
	// Untagged leaves out ProbeHeader.
	NoProbeHeader bool
	// CacheSalt says with whom the prefix cache is shared; "" is SaltNone.
	CacheSalt Salt
	// Service is what the target is a replica of, or the front door to: the value of
	// the "service" label; "" for none.
	Service string
	// Labels are on all of the target's series; at most MaxLabels.
	Labels map[string]string
	// Worker says how answers tell who gave them; nil for a target that is no front
	// door.
	Worker *Worker
}

// Worker says how the answers of a front door tell which worker gave them.
type Worker struct {
	// Header of the answer names it; "" means those of WorkerHeaders, and the
	// nvext.worker_id of Dynamo's chunks.
	Header string
	// Fingerprint means the system_fingerprint instead.
	Fingerprint bool
}

// WorkerHeaders are those in which routers and servers say who answered: gateways
// of the Gateway API's inference extension, llm-d's simulator, KServe.
func WorkerHeaders() []string {
	return []string{"X-Gateway-Destination-Endpoint-Served", "X-Inference-Pod", "X-Served-By"}
}

// FrontDoor reports whether the target stands for several workers.
func (t Target) IsFrontDoor() bool { return t.Worker != nil }

// MaxLabels is how many labels of its own a target may have.
const MaxLabels = 4

// Equal reports whether nothing about the deployment differs.
func (t Target) Equal(o Target) bool { return reflect.DeepEqual(t, o) }
