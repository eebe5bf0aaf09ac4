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
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
)

func (b *builder) targets(in []fileTarget) []target.Target {
	out := make([]target.Target, len(in))
	for i, f := range in {
		path := yamlform.Index("targets", i)
		t := b.withSettings(path, b.endpoint(path, f.fileEndpoint, f.fileAPI), f.fileSettings)
		t.Name = cmp.Or(f.Name, f.BaseURL.name())
		b.register(path, t.Name, f.fileSettings)
		b.readModels(path, f, t)
		out[i] = t
	}
	b.targetNames.valid = b.namesValid("targets", len(in))
	return out
}

// readModels makes a target TARGET/MODEL of each model of a target.
func (b *builder) readModels(path string, f fileTarget, t target.Target) {
	at := path + ".models"
	if !b.Has(at) {
		return
	}
	for _, other := range []string{"model", "server_metrics"} {
		if b.Has(path+"."+other) && b.Valid(at) {
			b.Mistake(at, "", "cannot be combined with "+other+", which belongs to one model", "keep one of the two, or write a target for each model")
		}
	}
	seen := map[string]bool{}
	for i, model := range f.Models {
		one, item := t, yamlform.Index(at, i)
		if label := yamlform.LabelSafe(model); seen[label] && b.Valid(item) {
			b.Mistake(item, model, "has the same target name as an earlier model", "remove one of the two")
		} else {
			seen[label] = true
		}
		one.Name, one.Model = t.Name+"/"+yamlform.LabelSafe(model), model
		b.models[t.Name] = append(b.models[t.Name], one)
	}
}

// register makes the name of a target or group at path known.
func (b *builder) register(path, name string, f fileSettings) {
	b.locations[name] = cmp.Or(f.Timezone.Location, b.location)
	for _, w := range f.ProbeHours {
		spans := append(b.hours[name].Spans, workload.Span{Start: w.start, Length: w.length})
		b.hours[name] = workload.Hours{Spans: spans, Location: b.locations[name]}
	}
	b.Name(path, name, "target", b.usedNames)
	b.targetNames.add(name)
	b.targetPaths = append(b.targetPaths, path)
}

// withSettings adds the settings that targets and groups have in common.
func (b *builder) withSettings(path string, t target.Target, f fileSettings) target.Target {
	t.Connection, t.ServedAs, t.CacheSalt = f.Connection, f.ServedAs, f.CacheSalt
	t.Extra = b.extraBody(path+".extra_body", t.API, f.ExtraBody)
	t.Service, t.Labels = f.Service, b.ownLabels(path, f)
	t.Worker = b.worker(path+".worker", f.Worker)
	if _, own := f.ExtraBody["cache_salt"]; own && f.CacheSalt != target.SaltNone && b.Valid(path+".cache_salt") {
		b.Mistake(path+".cache_salt", string(f.CacheSalt), "cannot be combined with a cache_salt in extra_body", "keep one of the two")
	}
	return t
}

// worker checks the name of the header in which a router names the worker.
func (b *builder) worker(at, name string) string {
	if name != "" && !httpguts.ValidHeaderFieldName(name) {
		b.Mistake(at, name, "is not a header name", "write a header name of letters, digits and -")
	}
	return name
}

func (b *builder) ownLabels(path string, f fileSettings) map[string]string {
	if f.Service != "" {
		b.labelValue(path+".service", f.Service)
	}
	at := path + ".labels"
	b.labels(at, f.Labels)
	if len(f.Labels) > target.MaxLabels {
		b.Mistake(at, "", fmt.Sprintf("has %d labels", len(f.Labels)), fmt.Sprintf("keep %d at most: each is on hundreds of series", target.MaxLabels))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
		here := yamlform.Join(at, name)
		b.notReserved(here, name)
		b.labelValue(here, f.Labels[name])
	}
	return f.Labels
}

// notReserved rejects the names of labels that synthetic sets itself.
func (b *builder) notReserved(path, name string) {
	if target.IsReservedLabel(name) {
		b.Mistake(path, "", "is a label that series already have", "choose another name")
	}
}

func (b *builder) labelValue(path, value string) {
	if len(value) > 128 || strings.ContainsFunc(value, unicode.IsControl) {
		b.Mistake(path, value, "is not the value of a label", "write up to 128 bytes of text, in one line")
	}
}

// endpoint resolves how to reach an API.
func (b *builder) endpoint(path string, e fileEndpoint, a fileAPI) target.Target {
	api := dialect.Of(a.API)
	if api.ModelList == "" && e.Model == "" && b.Valid(path+".model", path+".api") {
		b.Mistake(path+".model", "", "is missing: the API "+string(a.API)+" does not list its models", "write the name of the model, or of Azure's deployment")
	}
	if api.Version == "" {
		b.NoEffect(path, "with an API that has no versions", "remove it", "api_version")
	}
	return target.Target{
		BaseURL: e.BaseURL.base(a.API), API: a.API, APIVersion: a.APIVersion, Model: e.Model, Connection: target.Reuse,
		Key: b.key(path, e), Headers: b.headers(path+".headers", e.Headers), HTTP: b.endpointClient(path, e),
		Session: b.session(path+".session", a.Session, e.Headers),
	}
}

// envName matches names of environment variables. likeKey matches API keys that look like one, but
// not HF_TOKEN.
var (
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	likeKey = regexp.MustCompile(`^((sk|pk|hf|gsk|ghp)_|eyJ)[A-Za-z0-9_]*[0-9]`)
)

func (b *builder) key(path string, e fileEndpoint) target.Credential {
	switch at, name := path+".api_key_env", e.APIKeyEnv; {
	case name == "":
	case !envName.MatchString(name) || likeKey.MatchString(name):
		b.Mistake(at, "", "is not the name of an environment variable (value not shown)", "write the variable's name, for example LLM_API_KEY")
	case b.getenv != nil && strings.TrimSpace(b.getenv(name)) == "":
		b.Mistake(at, "", "names a variable that is not set here (value not shown): every turn would fail without its key", "set it where synthetic runs; elsewhere, use \"check --no-keys\"")
	}
	return target.Credential{File: b.file(path+".api_key_file", e.APIKeyFile, true), Env: e.APIKeyEnv}
}

// headers checks headers. No message repeats a value.
func (b *builder) headers(path string, in map[string]string) map[string]string {
	first := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		at, canonical := yamlform.Join(path, name), textproto.CanonicalMIMEHeaderKey(name)
		switch carriesKey, own := headerKind(name); {
		case carriesKey:
			b.Mistake(at, "", "carries a key, which is never written in the configuration (value not shown)", "put the key in a file and write api_key_file, or in an environment variable and write api_key_env")
		case own:
			b.Mistake(at, "", "is set by the client itself", "remove it")
		case !httpguts.ValidHeaderFieldName(name):
			b.Mistake(at, "", "is not a header name", "use letters, digits and -")
		case !httpguts.ValidHeaderFieldValue(in[name]):
			b.Mistake(at, "", "has a value with control characters (not shown)", "write one line of text")
		case first[canonical] != "":
			b.Mistake(at, "", "is the same header as "+first[canonical], "keep one of the two")
		}
		first[canonical] = name
	}
	return in
}

// headerKind reports whether a header carries a key, and whether the client sets it itself.
func headerKind(name string) (carriesKey, own bool) {
	if target.CarriesKey(name) {
		return true, false
	}
	switch textproto.CanonicalMIMEHeaderKey(name) {
	case "Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type",
		"Expect", "Host", "Te", "Trailer", "Traceparent", "Transfer-Encoding", "Upgrade", target.ProbeHeader:
		return false, true
	}
	return false, false
}

// ownFields returns the body fields that the prober sets itself, with the remedies.
func ownFields() map[string]string {
	const (
		schema = "write response_schema on the workload"
		limit  = "write max_output_tokens on the workload"
		remove = "remove it"
	)
	return map[string]string{
		"model": "write model on the target", "temperature": "write temperature on the workload",
		"max_tokens": limit, "max_completion_tokens": limit, "max_output_tokens": limit,
		"tools": "write tools on the workload", "tool_choice": "write tool_choice on the workload",
		"response_format": schema, "text": schema, "format": schema,
		"prompt": remove, "input": remove, "text_input": remove,
		"messages": remove, "n": remove, "stream": remove, "stream_options": remove,
	}
}

// extraBody rejects fields that would break the measurement. Optional ones can be left out, with null.
func (b *builder) extraBody(path string, a dialect.Name, in map[string]any) map[string]any {
	own := ownFields()
	for name, value := range in {
		switch remedy := own[strings.ToLower(name)]; {
		case remedy == "", value == nil && dialect.Of(a).IsOptional(name):
		case value == nil:
			b.Mistake(yamlform.Join(path, name), "", "cannot be left out", "remove it")
		default:
			b.Mistake(yamlform.Join(path, name), "", "is set by synthetic itself", remedy)
		}
	}
	return in
}

func (b *builder) serverMetrics(in []fileTarget, targets []target.Target) []serverside.Watched {
	var out []serverside.Watched
	for i, t := range in {
		if path := yamlform.Index("targets", i) + ".server_metrics"; b.Has(path) {
			out = append(out, serverside.Watched{Target: targets[i], URLs: b.metricsURLs(path+".urls", t.BaseURL, t.ServerMetrics.URLs)})
		}
	}
	return out
}

// metricsURLs checks the addresses of a server's metrics. If the key is absent, it returns the usual
// address on the host of base.
func (b *builder) metricsURLs(path string, base address, urls []webURL) []string {
	if !b.Has(path) {
		return base.metrics()
	}
	var out []string
	first := map[webURL]string{}
	for i, page := range urls {
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
