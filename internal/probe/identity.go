package probe

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"synthetic/internal/bound"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
)

// releaseDate matches the date that servers append to the name of a model.
var releaseDate = regexp.MustCompile(`[-@](\d{4}-\d\d-\d\d|\d{8}|\d{4})$`)

// isServedModel reports whether the model that an answer names may be the requested one. Servers
// name a model by its file or its release, or not at all. A request to Azure names a deployment,
// which says nothing about the model unless ServedAs does.
func isServedModel(t *target.Target, requested, answered string) bool {
	name := modelName(answered)
	if requested == "" || name == "" || dialect.Of(t.API).NamesDeployment() && len(t.ServedAs) == 0 {
		return true
	}
	return slices.ContainsFunc(append([]string{requested}, t.ServedAs...), func(allowed string) bool {
		return isSameRelease(name, modelName(allowed))
	})
}

// isSameRelease reports whether two names are equal, or one is the other with a release date.
func isSameRelease(a, b string) bool {
	return a == b || releaseDate.ReplaceAllString(a, "") == b || a == releaseDate.ReplaceAllString(b, "")
}

func modelName(name string) string {
	name = strings.ToLower(path.Base("/" + strings.ReplaceAll(name, `\`, "/")))
	for _, suffix := range []string{"@main", ".gguf", ":latest", "-latest"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.Trim(name, "/.")
}

// worker returns the name of the worker behind a router that gave the answer: the header that the
// target configures, or else the first known name, at last the gateway's backend; "" if the answer names none.
// Refusals also have the headers.
func (a *attempt) worker(header, backend string) string {
	name := ""
	if header != "" {
		name = a.headers.Get(header)
	} else { // the first two are of the Gateway API inference extension and of llm-d's simulator, then Dynamo's
		name = cmp.Or(a.headers.Get("X-Gateway-Destination-Endpoint-Served"), a.headers.Get("X-Inference-Pod"), a.seen.worker, backend)
	}
	return bound.Clip(name, maxBackend)
}
