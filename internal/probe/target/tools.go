package target

// SupportsTools reports whether requests of the API can contain tools.
func (a API) SupportsTools() bool {
	return a.OpenAIChat() || a == Responses || a == Messages || a == Ollama
}

// SupportsJSONSchema reports whether requests of the API can ask for a JSON schema.
func (a API) SupportsJSONSchema() bool { return a.OpenAIChat() || a == Responses || a == Ollama }

// OpenAIChat reports whether requests have the format of OpenAI's chat completions.
func (a API) OpenAIChat() bool { return a == "" || a == Chat || a == Azure }
