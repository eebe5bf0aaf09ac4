package target

// Tools reports whether requests of the API can bring tools.
func (a API) SupportsTools() bool {
	return a.OpenAIChat() || a == Responses || a == Messages || a == Ollama
}

// Formats reports whether requests of the API can ask for a JSON schema.
func (a API) SupportsJSONSchema() bool { return a.OpenAIChat() || a == Responses || a == Ollama }

// OpenAIChat reports whether the API is OpenAI's chat completions, by whatever
// path.
func (a API) OpenAIChat() bool { return a == "" || a == Chat || a == Azure }
