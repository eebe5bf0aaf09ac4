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

func readTargets(r *reader, in []fileTarget) []target.Target {
	out := make([]target.Target, len(in))
	for i, f := range in {
		path := yamlform.Index("targets", i)
		t := withSettings(r, path, readEndpoint(r, path, f.BaseURL, f.fileAPI), f.fileSettings)
		t.Name = cmp.Or(f.Name, f.BaseURL.name())
		register(r, path, t.Name, f.fileSettings)
		readModels(r, path, f, t)
		out[i] = t
	}
	return out
}

// readModels makes a target TARGET/MODEL of each model of a target.
func readModels(r *reader, path string, f fileTarget, t target.Target) {
	at := path + ".models"
	if !r.Has(at) {
		return
	}
	for _, other := range []string{"model", "server_metrics"} {
		if r.Has(path+"."+other) && r.Valid(at) {
			r.Mistake(at, "", "cannot be combined with "+other+", which belongs to one model", "keep one of the two, or write a target for each model")
		}
	}
	seen := map[string]bool{}
	for i, model := range f.Models {
		one, item := t, yamlform.Index(at, i)
		if label := yamlform.LabelSafe(model); seen[label] && r.Valid(item) {
			r.Mistake(item, model, "has the same target name as an earlier model", "remove one of the two")
		} else {
			seen[label] = true
		}
		one.Name, one.Model = t.Name+"/"+yamlform.LabelSafe(model), model
		r.models[t.Name] = append(r.models[t.Name], one)
	}
}

// register makes the name of a target or group at path known.
func register(r *reader, path, name string, f fileSettings) {
	k := known{path: path, location: cmp.Or(f.Timezone.Location, r.location)}
	for _, w := range f.ProbeHours {
		k.hours.Spans = append(k.hours.Spans, workload.Span{Start: w.start, Length: w.length})
		k.hours.Location = k.location
	}
	r.Name(path, name, "target", r.usedNames)
	r.targets.add(r, path, name)
	r.known = append(r.known, k)
}

// withSettings adds the settings that targets and groups have in common.
func withSettings(r *reader, path string, t target.Target, f fileSettings) target.Target {
	t.Connection, t.ServedAs, t.CacheSalt = f.Connection, f.ServedAs, f.CacheSalt
	t.Extra = checkExtraBody(r, path+".extra_body", t.API, f.ExtraBody)
	t.Service, t.Labels = f.Service, checkOwnLabels(r, path, f)
	t.Session.Worker = f.Worker
	if f.Worker != "" && !httpguts.ValidHeaderFieldName(f.Worker) {
		r.Mistake(path+".worker", f.Worker, "is not a header name", "write a header name of letters, digits and -")
	}
	if _, own := f.ExtraBody["cache_salt"]; own && f.CacheSalt != target.SaltNone && r.Valid(path+".cache_salt") {
		r.Mistake(path+".cache_salt", string(f.CacheSalt), "cannot be combined with a cache_salt in extra_body", "keep one of the two")
	}
	return t
}

func checkOwnLabels(r *reader, path string, f fileSettings) map[string]string {
	if f.Service != "" {
		checkLabelValue(r, path+".service", f.Service)
	}
	at := path + ".labels"
	checkLabels(r, at, f.Labels)
	if len(f.Labels) > target.MaxLabels {
		r.Mistake(at, "", fmt.Sprintf("has %d labels", len(f.Labels)), fmt.Sprintf("keep %d at most: each is on hundreds of series", target.MaxLabels))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
		here := yamlform.Join(at, name)
		if target.IsReservedLabel(name) {
			r.Mistake(here, "", "is a label that series already have", "choose another name")
		}
		checkLabelValue(r, here, f.Labels[name])
	}
	return f.Labels
}

func checkLabelValue(r *reader, path, value string) {
	if len(value) > 128 || strings.ContainsFunc(value, unicode.IsControl) {
		r.Mistake(path, value, "is not the value of a label", "write up to 128 bytes of text, in one line")
	}
}

// readEndpoint resolves how to reach an API at an address.
func readEndpoint(r *reader, path string, at address, a fileAPI) target.Target {
	api := dialect.Of(a.API)
	if api.ModelList == "" && a.Model == "" && r.Valid(path+".model", path+".api") {
		r.Mistake(path+".model", "", "is missing: the API "+string(a.API)+" does not list its models", "write the name of the model, or of Azure's deployment")
	}
	if api.Version == "" {
		r.NoEffect(path, "with an API that has no versions", "remove it", "api_version")
	}
	return target.Target{
		BaseURL: at.base(a.API), API: a.API, APIVersion: a.APIVersion, Model: a.Model, Connection: target.Reuse,
		Key: readKey(r, path, a), Headers: checkHeaders(r, path+".headers", a.Headers), HTTP: endpointClient(r, path, at, a),
		Session: readSession(r, path+".session", a.Session, a.Headers),
	}
}

// readSession resolves how a target learns which requests belong to one conversation. headers are those
// that the target configures.
func readSession(r *reader, path string, f fileSession, headers map[string]string) target.Session {
	var s target.Session
	if f.Header != "none" {
		s.Header = textproto.CanonicalMIMEHeaderKey(f.Header)
		checkSessionHeader(r, path+".header", f.Header, "none, or ")
	}
	const isFixed = "names a header that headers sets for all requests"
	fixed := map[string]bool{}
	for name := range headers {
		fixed[textproto.CanonicalMIMEHeaderKey(name)] = true
	}
	for i, name := range f.Echo {
		at := yamlform.Index(path+".echo", i)
		s.Echo = append(s.Echo, textproto.CanonicalMIMEHeaderKey(name))
		checkSessionHeader(r, at, name, "")
		if fixed[s.Echo[i]] {
			r.Mistake(at, name, isFixed, "remove it from headers or from echo")
		}
	}
	if at := path + ".header"; r.Has(at) && fixed[s.Header] {
		r.Mistake(at, "", isFixed, "remove it from headers, or write header: none")
	}
	return s
}

// checkSessionHeader checks a header that carries a session. The remedy of a mistake lists more choices first.
func checkSessionHeader(r *reader, at, name, choices string) {
	if name == "" { // an endpoint that has no such key
		return
	}
	carriesKey, own := headerKind(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		r.Mistake(at, name, "is not a header name", "write "+choices+"a header name of letters, digits and -")
	case carriesKey || own:
		r.Mistake(at, name, "is a header for something else", "write "+choices+"a header that only names sessions")
	}
}

// envName matches names of environment variables. likeKey matches API keys that look like one, but
// not HF_TOKEN.
var (
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	likeKey = regexp.MustCompile(`^((sk|pk|hf|gsk|ghp)_|eyJ)[A-Za-z0-9_]*[0-9]`)
)

func readKey(r *reader, path string, a fileAPI) target.Credential {
	switch at, name := path+".api_key_env", a.APIKeyEnv; {
	case name == "":
	case !envName.MatchString(name) || likeKey.MatchString(name):
		r.Mistake(at, "", "is not the name of an environment variable (value not shown)", "write the variable's name, for example LLM_API_KEY")
	case r.getenv != nil && strings.TrimSpace(r.getenv(name)) == "":
		r.Mistake(at, "", "names a variable that is not set here (value not shown): every turn would fail without its key", "set it where synthetic runs; elsewhere, use \"check --no-keys\"")
	}
	key := target.Credential{File: a.APIKeyFile, Env: a.APIKeyEnv}
	if at := path + ".api_key_file"; r.Has(at) {
		shown := key.File
		if !strings.Contains(shown, "/") {
			shown = "" // it may be the key itself
		}
		key.File = r.file(at, key.File, shown)
	}
	return key
}

// checkHeaders checks headers. No message repeats a value.
func checkHeaders(r *reader, path string, in map[string]string) map[string]string {
	first := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		at, canonical := yamlform.Join(path, name), textproto.CanonicalMIMEHeaderKey(name)
		switch carriesKey, own := headerKind(name); {
		case carriesKey:
			r.Mistake(at, "", inConfiguration, "put the key in a file and write api_key_file, or in an environment variable and write api_key_env")
		case own:
			r.Mistake(at, "", "is set by the client itself", "remove it")
		case !httpguts.ValidHeaderFieldName(name):
			r.Mistake(at, "", "is not a header name", "use letters, digits and -")
		case !httpguts.ValidHeaderFieldValue(in[name]):
			r.Mistake(at, "", "has a value with control characters (not shown)", "write one line of text")
		case first[canonical] != "":
			r.Mistake(at, "", "is the same header as "+first[canonical], "keep one of the two")
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

// checkExtraBody rejects fields that would break the measurement. Optional ones can be left out, with null.
func checkExtraBody(r *reader, path string, a dialect.Name, in map[string]any) map[string]any {
	own := ownFields()
	for name, value := range in {
		switch remedy := own[strings.ToLower(name)]; {
		case remedy == "", value == nil && dialect.Of(a).IsOptional(name):
		case value == nil:
			r.Mistake(yamlform.Join(path, name), "", "cannot be left out", "remove it")
		default:
			r.Mistake(yamlform.Join(path, name), "", "is set by synthetic itself", remedy)
		}
	}
	return in
}

func readServerMetrics(r *reader, in []fileTarget, targets []target.Target) []serverside.Watched {
	var out []serverside.Watched
	for i, t := range in {
		if path := yamlform.Index("targets", i) + ".server_metrics"; r.Has(path) {
			out = append(out, serverside.Watched{Target: targets[i], URLs: readMetricsURLs(r, path+".urls", t.BaseURL, t.ServerMetrics.URLs)})
		}
	}
	return out
}

// readMetricsURLs checks the addresses of a server's metrics. If the key is absent, it returns the usual
// address on the host of base.
func readMetricsURLs(r *reader, path string, base address, urls []webURL) []string {
	if !r.Has(path) {
		return base.metrics()
	}
	var out []string
	first := map[webURL]string{}
	for i, url := range urls {
		at := yamlform.Index(path, i)
		if !r.Valid(at) {
			continue
		}
		switch before := first[url]; {
		case strings.Count(string(url), "/") == 2:
			r.Mistake(at, string(url), "has no path", "write "+yamlform.Shown(string(url)+"/metrics"))
		case before != "":
			r.Mistake(at, string(url), "is also the address of "+before, "keep one of the two")
		}
		first[url] = at
		out = append(out, string(url))
	}
	return out
}
