package probe

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"synthetic/internal/bound"
	"synthetic/internal/redact"
)

// proofs are the names of headers that evidence contains, in lower case: when, by what and from which cache a request
// was answered. Headers of other names are left out, because those of a foreign answer may carry the secrets, the
// account or the session of another user.
const proofs = `
	age cache-control cache-status content-encoding content-length content-type date etag expires last-modified
	server server-timing via x-cache x-cache-hits x-cache-lookup x-cache-status x-proxy-cache x-varnish
	cf-cache-status cf-aig-cache-status x-litellm-cache-key x-portkey-cache-status helicone-cache

	traceparent traceresponse x-b3-traceid x-b3-spanid x-cloud-trace-context x-amz-cf-id x-amzn-requestid x-requestid
	cf-ray cf-aig-event-id cf-aig-log-id helicone-id x-generation-id x-litellm-call-id

	x-backend x-backend-server x-gateway x-host x-inference-pod x-instance x-instance-id x-node x-pod x-pod-name
	x-replica x-replica-id x-served-by x-server x-upstream x-upstream-addr x-worker x-worker-id
	x-gateway-destination-endpoint x-gateway-destination-endpoint-served x-amz-cf-pop x-ms-region x-groq-region x-region
	x-envoy-attempt-count x-envoy-upstream-service-time x-kong-proxy-latency x-kong-upstream-latency

	openai-model openai-processing-ms openai-version x-model x-model-id x-ms-deployment-name x-served-model
	x-gateway-model-name x-litellm-attempted-fallbacks x-litellm-attempted-retries x-litellm-model-group
	x-litellm-model-id x-litellm-model-region x-litellm-overhead-duration-ms x-litellm-response-duration-ms x-litellm-version
`

// isProof reports whether evidence contains a header. In addition to proofs, these are the ids of requests and traces of
// all vendors, such as Apim-Request-Id.
func isProof(name string) bool {
	name = strings.ToLower(name)
	for _, id := range []string{"request-id", "trace-id", "correlation-id"} {
		if name == id || strings.HasSuffix(name, "-"+id) {
			return true
		}
	}
	return slices.Contains(strings.Fields(proofs), name)
}

// shownHeaders returns the headers of a response that prove something, without secrets. It stops after maxHeaders values,
// in the order of the names. echo are the names of the session's tokens.
func shownHeaders(h http.Header, echo []string) http.Header {
	shown, n := http.Header{}, 0
	for _, name := range slices.Sorted(maps.Keys(h)) {
		isEcho := slices.ContainsFunc(echo, func(e string) bool { return strings.EqualFold(e, name) })
		if isEcho || !isProof(name) {
			continue
		}
		for _, v := range h[name] {
			if n++; n > maxHeaders {
				return shown
			}
			shown.Add(name, bound.Shorten(redact.Text(v), maxHeaderValue)) // in this order, as for the answer
		}
	}
	return shown
}
