package target

// API is the HTTP API of a target.
type API string

const (
	// Chat is OpenAI's /chat/completions. "" means Chat too.
	Chat API = "chat"
	// Completions is OpenAI's older /completions, which takes a prompt.
	Completions API = "completions"
	// Responses is OpenAI's /responses.
	Responses API = "responses"
	// Messages is Anthropic's /messages. vLLM, SGLang and llama.cpp also serve it.
	Messages API = "messages"
	// Azure is Chat on Azure OpenAI, with its own paths and key header.
	Azure API = "azure"
)

// APIs returns all APIs.
func APIs() []API {
	return []API{Chat, Completions, Responses, Messages, Azure}
}

// DefaultPath is the path of a base URL that was written without one.
func (a API) DefaultPath() string {
	if a == Azure { // its paths have different roots
		return ""
	}
	return "/v1"
}

// ListsModels reports whether the API can list the served models.
func (a API) ListsModels() bool { return a != Azure }

// SupportsTools reports whether requests of the API can contain tools.
func (a API) SupportsTools() bool { return a != Completions }

// SupportsJSONSchema reports whether requests of the API can ask for a JSON schema.
func (a API) SupportsJSONSchema() bool { return a.OpenAIChat() || a == Responses }

// OpenAIChat reports whether requests have the format of OpenAI's chat completions.
func (a API) OpenAIChat() bool { return a == "" || a == Chat || a == Azure }

// keyHeader returns the header of the key. In Authorization, the key follows "Bearer".
func (t *Target) keyHeader() string {
	switch t.API {
	case Azure:
		return "Api-Key"
	case Messages:
		return "X-Api-Key"
	}
	return "Authorization"
}
