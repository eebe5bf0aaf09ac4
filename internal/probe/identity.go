package probe

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// dated is what servers put behind the name of a model that they serve: a date or
// a number.
var dated = regexp.MustCompile(`[-@][-0-9]+$`)

// sameModel reports whether an answer that names a model is by the one that was
// asked, or by one that may stand for it. Servers name a model by its file or by
// its release; one that names none is believed.
func sameModel(asked, answered string, aliases []string) bool {
	name := modelName(answered)
	return asked == "" || name == "" || name == modelName(asked) ||
		slices.ContainsFunc(aliases, func(a string) bool { return modelName(a) == name })
}

func modelName(name string) string {
	name = strings.ToLower(path.Base("/" + strings.ReplaceAll(name, `\`, "/")))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gguf"), ":latest")
	return strings.Trim(dated.ReplaceAllString(name, ""), "/.")
}
