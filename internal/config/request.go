package config

import (
	"maps"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// secretHeaders are the headers that carry keys, in canonical form.
func secretHeaders() []string {
	return []string{
		"Authorization", "Proxy-Authorization", "Cookie", "Api-Key", "X-Api-Key",
		"X-Auth-Token", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key",
	}
}

// ownHeaders are the headers that the client sets itself, in canonical form.
func ownHeaders() []string {
	return []string{
		"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type",
		"Expect", "Host", "Te", "Trailer", "Traceparent", "Transfer-Encoding", "Upgrade",
	}
}

// ownFields are the body fields that the prober sets itself.
func ownFields() []string {
	return []string{
		"max_completion_tokens", "max_tokens", "messages", "model", "n",
		"stream", "stream_options", "temperature",
	}
}

// headers checks the names and values of headers. The messages never repeat a
// value.
func (b *builder) headers(path string, in map[string]string) map[string]string {
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		at := join(path, shownKey(name))
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			b.mistake(at, "", "is not a header name", "use letters, digits and -")
		case slices.Contains(secretHeaders(), canonical):
			b.mistake(at, "", "carries a key, which is never written in the configuration (value not shown)", "put the key in a file and write api_key_file, or in an environment variable and write api_key_env")
		case slices.Contains(ownHeaders(), canonical):
			b.mistake(at, "", "is set by the client itself", "remove it")
		case !httpguts.ValidHeaderFieldValue(in[name]):
			b.mistake(at, "", "has a value with control characters (not shown)", "write one line of text")
		case taken[canonical] != "":
			b.mistake(at, "", "is the same header as "+taken[canonical], "keep one of the two")
		}
		taken[canonical] = name
	}
	return in
}

// extraBody refuses the fields that would break the measurement.
func (b *builder) extraBody(path string, in map[string]any) map[string]any {
	remedies := map[string]string{
		"model":                 "write model on the target",
		"max_tokens":            "write max_output_tokens on the workload",
		"max_completion_tokens": "write max_output_tokens on the workload",
		"temperature":           "write temperature on the workload",
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if !slices.Contains(ownFields(), strings.ToLower(name)) {
			continue
		}
		remedy := remedies[strings.ToLower(name)]
		if remedy == "" {
			remedy = "remove it"
		}
		b.mistake(join(path, name), "", "is set by synthetic itself", remedy)
	}
	return in
}
