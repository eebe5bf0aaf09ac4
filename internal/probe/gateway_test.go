package probe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
)

// answeredBy returns a server that answers with recorded headers and names a model.
func answeredBy(t *testing.T, headers, model string) *scripted {
	t.Helper()
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	for line := range strings.Lines(headers) {
		name, _, _ := strings.Cut(line, ":")
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-") {
			head += strings.TrimSpace(line) + "\r\n"
		}
	}
	body := `data: {"model":"` + model + `","choices":[{"delta":{"content":"Hello"}}]}` + "\n\n" +
		`data: {"model":"` + model + `","choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	return play(t, &scripted{steps: []step{{write: head + "\r\n" + body}}})
}

// TestGatewayHeaders: the headers were recorded from LiteLLM 1.106.12; the documents of Envoy and
// OpenRouter describe the others.
func TestGatewayHeaders(t *testing.T) {
	recorded := func(name string) string {
		b, err := os.ReadFile(filepath.Join("testdata", "gateways", "litellm-"+name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	microseconds := func(n time.Duration) probe.Opt[time.Duration] { return probe.Some(n * time.Microsecond) }
	for name, tt := range map[string]struct {
		headers, model string
		listed         []any
		want           probe.Gateway
		other          bool
	}{
		"no gateway": {model: "m"},
		"LiteLLM": {headers: recorded("direct"), model: "m", want: probe.Gateway{
			Retries: probe.Some(0), Fallbacks: probe.Some(0), Overhead: microseconds(17696), Response: microseconds(18872), Backend: "127.0.0.1:8791",
		}},
		"LiteLLM tried again": {headers: recorded("retried"), model: "m", want: probe.Gateway{
			Retries: probe.Some(2), Fallbacks: probe.Some(0), Overhead: microseconds(445102), Response: microseconds(551465), Backend: "127.0.0.1:8791",
		}},
		"LiteLLM fell back": {headers: recorded("fallback"), model: "tiny", want: probe.Gateway{
			Retries: probe.Some(0), Fallbacks: probe.Some(1), Overhead: microseconds(8711890), Response: microseconds(8728672), Backend: "127.0.0.1:8791",
		}},
		"another model without a fallback": {headers: recorded("direct"), model: "tiny", other: true, want: probe.Gateway{
			Retries: probe.Some(0), Fallbacks: probe.Some(0), Overhead: microseconds(17696), Response: microseconds(18872), Backend: "127.0.0.1:8791",
		}},
		"a deployment without an address": {headers: "x-litellm-model-id: azure-1\nx-litellm-model-api-base: \n", model: "m", want: probe.Gateway{Backend: "azure-1"}},
		"Envoy":                           {headers: "x-envoy-attempt-count: 3\n", model: "m", want: probe.Gateway{Retries: probe.Some(2)}},
		"OpenRouter":                      {model: "m", listed: []any{"m", "vendor/other"}, want: probe.Gateway{Fallbacks: probe.Some(0)}},
		"OpenRouter fell back":            {model: "vendor/other-2026-01-05", listed: []any{"m", "vendor/other"}, want: probe.Gateway{Fallbacks: probe.Some(1)}},
		"a model that is not listed":      {model: "third", listed: []any{"m", "vendor/other"}, other: true},
		"impossible numbers": {
			headers: "x-litellm-attempted-fallbacks: -1\nx-litellm-attempted-retries: 1e9\nx-litellm-overhead-duration-ms: NaN\nx-litellm-response-duration-ms: None\nx-envoy-attempt-count: 0\n", model: "m",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := answeredBy(t, tt.headers, tt.model)
			o := options(s.addr)
			if tt.listed != nil {
				o.Target.Extra = map[string]any{"models": tt.listed}
			}
			r := once(t, o)
			cut := func(d probe.Opt[time.Duration]) probe.Opt[time.Duration] {
				return probe.Opt[time.Duration]{V: d.V.Truncate(time.Microsecond), OK: d.OK}
			}
			r.Gateway.Overhead, r.Gateway.Response = cut(r.Gateway.Overhead), cut(r.Gateway.Response)
			if diff := cmp.Diff(tt.want, r.Gateway); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if r.Outcome != probe.Success || r.IsOtherModel() != tt.other {
				t.Errorf("outcome %s, another model: %t; want success and %t", r.Outcome, r.IsOtherModel(), tt.other)
			}
		})
	}
}
