package api

import "net/url"

// triton is generate_stream of Triton's generate extension, with the names that
// TensorRT-LLM has for its inputs. Those that a model lacks are parameters to it.
func triton(t Turn) (Request, error) {
	f := fields{"text_input": flatten(t.History), "stream": true}
	put(f, "max_tokens", t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	return t.request("/v2/models/"+url.PathEscape(t.Model)+"/generate_stream", "", f)
}
