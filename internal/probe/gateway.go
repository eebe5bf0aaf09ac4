package probe

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe/target"
)

// Gateway is what a gateway in front of the server reports of its own work for a turn;
// docs/reference/apis.md lists the headers. The zero value means that no gateway reports anything.
type Gateway struct {
	// Retries counts further requests for one model. Fallbacks counts the models that the gateway
	// tried after the requested one: above 0, another model answered. OpenRouter only shows 1.
	Retries, Fallbacks Opt[int]
	// Response is the time until the gateway sent its headers. Overhead is the part of it that
	// the answering server did not use: the gateway's own work and its failed attempts. Both are
	// part of the TTFT.
	Overhead, Response Opt[time.Duration]
	// Backend is the host and port of the server that answered, or the gateway's name of it.
	Backend string
}

const (
	// maxAttempts is the largest number of attempts that is believed.
	maxAttempts = 1000
	// maxBackend bounds the bytes of Gateway.Backend. LiteLLM's IDs have 64.
	maxBackend = 128
)

// gatewayOf returns what the gateway reports in the headers of a response, and in its body.
func gatewayOf(h http.Header, t *target.Target, requested, answered string) Gateway {
	g := Gateway{
		Retries:   attempts(h.Get("X-Litellm-Attempted-Retries")),
		Fallbacks: attempts(h.Get("X-Litellm-Attempted-Fallbacks")),
		Overhead:  milliseconds(h.Get("X-Litellm-Overhead-Duration-Ms")),
		Response:  milliseconds(h.Get("X-Litellm-Response-Duration-Ms")),
		Backend:   h.Get("X-Litellm-Model-Id"),
	}
	if u, err := url.Parse(h.Get("X-Litellm-Model-Api-Base")); err == nil && u.Host != "" {
		g.Backend = u.Host
	}
	g.Backend = strings.ToValidUTF8(bound.Clip(g.Backend, maxBackend), "?")
	if n := attempts(h.Get("X-Envoy-Attempt-Count")); n.V > 0 && !g.Retries.OK {
		g.Retries = Some(n.V - 1)
	}
	if !g.Fallbacks.OK {
		g.Fallbacks = listedFallbacks(t, requested, answered)
	}
	return g
}

// listedFallbacks returns 1 if the body names another model of OpenRouter's request field "models"
// than the requested one, and 0 if it names that.
func listedFallbacks(t *target.Target, requested, answered string) Opt[int] {
	listed, _ := t.Extra["models"].([]any)
	if len(listed) == 0 || answered == "" {
		return Opt[int]{}
	}
	isAnswer := func(name any) bool {
		s, _ := name.(string)
		return isSameRelease(modelName(answered), modelName(s))
	}
	switch {
	case isServedModel(t, requested, answered):
		return Some(0)
	case slices.ContainsFunc(listed, isAnswer):
		return Some(1)
	}
	return Opt[int]{}
}

func attempts(header string) Opt[int] {
	n, err := strconv.Atoi(header)
	return Opt[int]{V: n, OK: err == nil && n >= 0 && n <= maxAttempts}
}

func milliseconds(header string) Opt[time.Duration] {
	ms, err := strconv.ParseFloat(header, 64)
	if err != nil || math.IsNaN(ms) || ms < 0 || ms > float64(24*time.Hour/time.Millisecond) {
		return Opt[time.Duration]{}
	}
	return Some(time.Duration(ms * float64(time.Millisecond)))
}
