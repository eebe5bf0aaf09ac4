package api

import (
	"cmp"
	"net/url"

	"synthetic/internal/probe/target"
)

// azureVersion is a version of the API that is generally available.
const azureVersion = "2024-10-21"

// ChatPath is the path of chat completions. Azure OpenAI has the deployment in it,
// and the version in the query.
func ChatPath(t target.Target, model string) string {
	const path = "/chat/completions"
	if t.API != target.Azure {
		return path
	}
	return "/openai/deployments/" + url.PathEscape(model) + path +
		"?api-version=" + url.QueryEscape(cmp.Or(t.APIVersion, azureVersion))
}
