package probe

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"synthetic/internal/probe/target"
)

// dated is the date that servers put behind the name of a model that they serve.
var dated = regexp.MustCompile(`[-@](\d{4}-\d\d-\d\d|\d{8}|\d{4})$`)

// sameModel reports whether an answer that names a model is by the one that was
// asked, or by one that may stand for it. Servers name a model by its file or by
// its release; one that names none is believed. At Azure a deployment is asked,
// whose name says nothing of its model unless aliases do.
func sameModel(t *target.Target, asked, answered string) bool {
	name := modelName(answered)
	return asked == "" || name == "" || t.API == target.Azure && len(t.ServedAs) == 0 || stands(name, modelName(asked)) ||
		slices.ContainsFunc(t.ServedAs, func(a string) bool { return stands(name, modelName(a)) })
}

// stands reports whether a name is another or a release of it, or that a release of
// it: of two releases neither is the other.
func stands(name, asked string) bool {
	return name == asked || dated.ReplaceAllString(name, "") == asked || name == dated.ReplaceAllString(asked, "")
}

func modelName(name string) string {
	name = strings.ToLower(path.Base("/" + strings.ReplaceAll(name, `\`, "/")))
	for _, end := range []string{".gguf", ":latest", "-latest"} {
		name = strings.TrimSuffix(name, end)
	}
	return strings.Trim(name, "/.")
}

// worker is who gave an answer, as it says; "" for what is no front door. Headers
// come with refusals, too.
func (a *attempt) worker(how *target.Worker) string {
	if how == nil {
		return ""
	}
	if how.Fingerprint {
		return a.scrub.hide(a.seen.fingerprint)
	}
	names := target.WorkerHeaders()
	if how.Header != "" {
		names = []string{how.Header}
	}
	for _, name := range names {
		if v := a.headers.Get(name); v != "" {
			return a.scrub.hide(v)
		}
	}
	return a.scrub.hide(a.seen.worker)
}
