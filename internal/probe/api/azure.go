package api

import (
	"cmp"
	"net/url"
)

// azure is chat completions as Azure OpenAI has them: the deployment stands in
// the path, the version in the query.
type azure struct{ chat }

// azureVersion is a version of the API that is generally available.
const azureVersion = "2024-10-21"

// Request implements API.
func (a azure) Request(t Turn) (Request, error) {
	r, err := a.chat.Request(t)
	r.Path = "/openai/deployments/" + url.PathEscape(t.Model) + r.Path +
		"?api-version=" + url.QueryEscape(cmp.Or(t.Target.APIVersion, azureVersion))
	return r, err
}
