package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/http/httpguts"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
)

// targets resolves the targets, and names those that have no name.
func (b *builder) targets(in []fileTarget) []target.Target {
	out := make([]target.Target, len(in))
	for i, t := range in {
		path := yamlform.Index("targets", i)
		out[i] = b.sent(path, b.spoken(path, t.fileEndpoint, t.fileAPI), t.fileSent)
		if out[i].IsFrontDoor() && t.Service == "" && b.Valid(path+".service") { // one that is found may bring it
			b.Mistake(path+".worker", "", "has no effect on a target without a service", "write service, too")
		}
		out[i].Name = cmp.Or(t.Name, t.BaseURL.name())
		b.named(path, path, &out[i], t.Price)
		b.models(path, t, out[i])
	}
	return out
}

// named takes in the name of a target of those at path, whose settings are those of
// the mapping at settings.
func (b *builder) named(path, settings string, t *target.Target, p workload.Price) {
	b.price(settings, t.Name, p)
	b.Name(path, t.Name, "target", b.taken)
	b.targetNames, b.targetPaths = append(b.targetNames, t.Name), append(b.targetPaths, path)
}

// sent adds to a target what it is sent.
func (b *builder) sent(path string, t target.Target, f fileSent) target.Target {
	t.Connection, t.ServedAs = f.Connection, f.ServedAs
	t.Extra = b.extraBody(path+".extra_body", f.ExtraBody)
	t.CacheSalt = f.CacheSalt
	t.Service, t.Labels = f.Service, b.ownLabels(path, f)
	t.Worker = b.worker(path+".worker", f.Worker)
	if _, own := f.ExtraBody["cache_salt"]; own && f.CacheSalt != target.SaltNone && b.Valid(path+".cache_salt") {
		b.Mistake(path+".cache_salt", string(f.CacheSalt), "stands beside a cache_salt in extra_body", "keep one of the two")
	}
	return t
}

// worker resolves how the answers of a router name the replica that gave them: by
// one of the known headers, by the system_fingerprint, or by the header of this name.
func (b *builder) worker(at, text string) *target.Worker {
	switch text {
	case "":
		return nil
	case "auto":
		return &target.Worker{}
	case "system_fingerprint":
		return &target.Worker{Fingerprint: true}
	}
	if !httpguts.ValidHeaderFieldName(text) {
		b.Mistake(at, text, "is not a header name", "write auto, system_fingerprint, or a header name of letters, digits and -")
	}
	return &target.Worker{Header: text}
}

// ownLabels checks the labels that a target brings.
func (b *builder) ownLabels(path string, t fileSent) map[string]string {
	if t.Service != "" {
		b.labelValue(path+".service", t.Service)
	}
	at := path + ".labels"
	b.labels(at, t.Labels)
	if len(t.Labels) > target.MaxLabels {
		b.Mistake(at, "", fmt.Sprintf("has %d labels", len(t.Labels)), fmt.Sprintf("keep %d at most: each is on hundreds of series", target.MaxLabels))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Labels)) {
		here := yamlform.Join(at, name)
		b.notReserved(here, name)
		b.labelValue(here, t.Labels[name])
	}
	return t.Labels
}

// notReserved refuses the name of a label that is no target's own.
func (b *builder) notReserved(path, name string) {
	if target.IsReservedLabel(name) {
		b.Mistake(path, "", "is a label that series have of themselves", "choose another name")
	}
}

// labelValue checks the value of a label.
func (b *builder) labelValue(path, value string) {
	if len(value) > 128 || strings.ContainsFunc(value, unicode.IsControl) {
		b.Mistake(path, value, "is not the value of a label", "write up to 128 bytes of text, in one line")
	}
}

// spoken resolves how to reach an API, and which it is.
func (b *builder) spoken(path string, e fileEndpoint, a fileAPI) target.Target {
	t := b.endpoint(path, e)
	t.API, t.APIVersion = a.API, a.APIVersion
	t.BaseURL = e.BaseURL.base(a.API)
	if !a.API.ListsModels() && e.Model == "" && b.Valid(path+".model", path+".api") {
		b.Mistake(path+".model", "", "is missing: the API "+string(a.API)+" cannot be asked for it", "write the name of the model, or of Azure's deployment")
	}
	if a.API != target.Azure && a.API != target.Messages {
		b.NoEffect(path, "with an API that has no versions", "remove it", "api_version")
	}
	return t
}

// endpoint resolves how to reach chat completions.
func (b *builder) endpoint(path string, e fileEndpoint) target.Target {
	return target.Target{
		BaseURL: e.BaseURL.base(target.Chat), Model: e.Model, Connection: target.Reuse,
		Key: b.key(path, e), Headers: b.headers(path+".headers", e.Headers),
		HTTP: b.endpointClient(path, e),
	}
}

// secretKey matches names of keys under which people write secrets.
var secretKey = regexp.MustCompile(`(?i)^(api[-_]?)?(key|token)$|password|secret|bearer|authorization|credential|^apikey$`)

// UnknownKey says of a key that is a secret where it belongs.
func (*fileReach) UnknownKey(key string) *yamlform.Mistake {
	if !secretKey.MatchString(key) {
		return nil
	}
	return yamlform.Bad("", "keys are never written in the configuration", "put it in a file and write api_key_file, or in an environment variable and write api_key_env")
}

// envName matches names of environment variables; likeKey matches the ones of
// them that are keys rather than names, unlike HF_TOKEN.
var (
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	likeKey = regexp.MustCompile(`^((sk|pk|hf|gsk|ghp)_|eyJ)[A-Za-z0-9_]*[0-9]`)
)

// key resolves where the API key is found.
func (b *builder) key(path string, e fileEndpoint) target.Credential {
	switch at, name := path+".api_key_env", e.APIKeyEnv; {
	case name == "":
	case !envName.MatchString(name) || likeKey.MatchString(name):
		b.Mistake(at, "", "is not the name of an environment variable (value not shown)", "write the variable's name, for example LLM_API_KEY")
	case b.getenv != nil && strings.TrimSpace(b.getenv(name)) == "":
		b.Mistake(at, "", "names a variable that is not set here (value not shown): every turn would fail without its key", "set it where synthetic runs; elsewhere, \"check config --no-keys\" does not ask")
	}
	return target.Credential{File: b.file(path+".api_key_file", e.APIKeyFile, true), Env: e.APIKeyEnv}
}

// headers checks the names and values of headers. The messages never repeat a
// value.
func (b *builder) headers(path string, in map[string]string) map[string]string {
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		at := yamlform.Join(path, name)
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch carriesKey, own := headerKind(name); {
		case carriesKey:
			b.Mistake(at, "", "carries a key, which is never written in the configuration (value not shown)", "put the key in a file and write api_key_file, or in an environment variable and write api_key_env")
		case own:
			b.Mistake(at, "", "is set by the client itself", "remove it")
		default:
			switch {
			case !httpguts.ValidHeaderFieldName(name):
				b.Mistake(at, "", "is not a header name", "use letters, digits and -")
			case !httpguts.ValidHeaderFieldValue(in[name]):
				b.Mistake(at, "", "has a value with control characters (not shown)", "write one line of text")
			case taken[canonical] != "":
				b.Mistake(at, "", "is the same header as "+taken[canonical], "keep one of the two")
			}
		}
		taken[canonical] = name
	}
	return in
}

// headerKind says of a header whether it carries a key, and whether the client
// sets it itself.
func headerKind(name string) (carriesKey, own bool) {
	switch textproto.CanonicalMIMEHeaderKey(name) {
	case "Authorization", "Proxy-Authorization", "Cookie", "Api-Key", "X-Api-Key",
		"X-Auth-Token", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key":
		return true, false
	case "Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type",
		"Expect", "Host", "Te", "Trailer", "Traceparent", "Transfer-Encoding", "Upgrade", target.ProbeHeader:
		return false, true
	}
	return false, false
}

// ownFields are the body fields that the prober sets itself, each with what to
// do instead.
func ownFields() map[string]string {
	const format = "write response_schema on the workload"
	const limit, remove = "write max_output_tokens on the workload", "remove it"
	return map[string]string{
		"model": "write model on the target", "temperature": "write temperature on the workload",
		"max_tokens": limit, "max_completion_tokens": limit,
		"tools": "write tools on the workload", "tool_choice": "write tool_choice on the workload",
		"response_format": format, "text": format, "format": format,
		"max_output_tokens": limit, "prompt": remove, "input": remove, "text_input": remove,
		"messages": remove, "n": remove, "stream": remove, "stream_options": remove,
	}
}

// extraBody refuses the fields that would break the measurement.
func (b *builder) extraBody(path string, in map[string]any) map[string]any {
	for name := range in {
		if remedy := ownFields()[strings.ToLower(name)]; remedy != "" {
			b.Mistake(yamlform.Join(path, name), "", "is set by synthetic itself", remedy)
		}
	}
	return in
}

// serverMetrics resolves the pages of the targets that have any.
func (b *builder) serverMetrics(in []fileTarget, targets []target.Target) []serverside.Watched {
	var out []serverside.Watched
	for i, t := range in {
		if path := yamlform.Index("targets", i) + ".server_metrics"; b.Has(path) {
			out = append(out, serverside.Watched{
				Target: targets[i], URLs: b.pages(path+".urls", t),
			})
		}
	}
	return out
}

// pages checks the addresses of a target's metrics.
func (b *builder) pages(path string, t fileTarget) []string {
	if !b.Has(path) {
		return t.BaseURL.metrics()
	}
	var out []string
	first := map[webURL]string{}
	for i, page := range t.ServerMetrics.URLs {
		at := yamlform.Index(path, i)
		if !b.Valid(at) {
			continue
		}
		switch before := first[page]; {
		case strings.Count(string(page), "/") == 2:
			b.Mistake(at, string(page), "has no path", "write "+yamlform.Shown(string(page)+"/metrics"))
		case before != "":
			b.Mistake(at, string(page), "is also the address of "+before, "keep one of the two")
		}
		first[page] = at
		out = append(out, string(page))
	}
	return out
}
