package api

import (
	"net/url"
	"slices"
	"strings"

	"synthetic/internal/probe/workload"
)

// completions builds a request for OpenAI's older /completions, with the history as one prompt.
func completions(t *Turn) (Request, error) {
	f := fields{
		"model": t.Model, "prompt": flatten(t.History), "stream": true, "stream_options": fields{"include_usage": true},
	}
	put(f, "max_tokens", t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	return t.request("/completions", "", f)
}

// triton builds a request for generate_stream of Triton's generate extension, with TensorRT-LLM's
// names of the inputs. A model treats unknown inputs as parameters.
func triton(t *Turn) (Request, error) {
	f := fields{"text_input": flatten(t.History), "stream": true}
	put(f, "max_tokens", t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	return t.request("/v2/models/"+url.PathEscape(t.Model)+"/generate_stream", "", f)
}

// flatten writes a history as one text that ends where the assistant continues. The prompt of
// each turn begins with the previous prompt, so a prefix cache contains it.
func flatten(history []workload.Message) string {
	var b strings.Builder
	for _, m := range history {
		switch m.Role {
		case "user":
			b.WriteString("User: ")
		case "assistant":
			b.WriteString("Assistant: ")
		}
		b.WriteString(strings.TrimSpace(m.Content))
		b.WriteString("\n\n")
	}
	b.WriteString("Assistant:")
	return b.String()
}

// embeddings builds a request for OpenAI's /embeddings, with the last message.
func embeddings(t *Turn) (Request, error) {
	return t.request("/embeddings", "application/json", fields{"model": t.Model, "input": lastText(t.History)})
}

// rerank builds a request for the /rerank of vLLM, SGLang, llama.cpp and Cohere. The first
// sentence of the last message is the query, and up to eight parts of the whole message are the
// documents.
func rerank(t *Turn) (Request, error) {
	const maxPassages = 8
	text := lastText(t.History)
	query, _, _ := strings.Cut(text, ".")
	words := strings.Fields(text)
	passages := []string{}
	for passage := range slices.Chunk(words, max((len(words)+maxPassages-1)/maxPassages, 1)) {
		passages = append(passages, strings.Join(passage, " "))
	}
	return t.request("/rerank", "application/json", fields{"model": t.Model, "query": query, "documents": passages})
}

func lastText(history []workload.Message) string {
	if len(history) == 0 {
		return ""
	}
	return history[len(history)-1].Content
}
