package target

import "cmp"

// API is the kind of endpoint that a target is.
type API string

const (
	// Chat is OpenAI's /chat/completions, the default: "" is Chat, too.
	Chat API = "chat"
	// Completions is OpenAI's older /completions of a prompt.
	Completions API = "completions"
	// Responses is OpenAI's /responses.
	Responses API = "responses"
	// Messages is Anthropic's /messages, which vLLM, SGLang and llama.cpp serve,
	// too.
	Messages API = "messages"
	// Azure is Chat as Azure OpenAI has it.
	Azure API = "azure"
	// Triton is generate_stream of Triton's generate extension.
	Triton API = "triton"
	// Ollama is Ollama's own /api/chat.
	Ollama API = "ollama"
	// Embeddings and Rerank are single shots: one answer in one piece.
	Embeddings API = "embeddings"
	Rerank     API = "rerank"
)

// APIs lists them all.
func APIs() []API {
	return []API{Chat, Completions, Responses, Messages, Azure, Triton, Ollama, Embeddings, Rerank}
}

// Root is the path of the base URL where none was written.
func (a API) DefaultPath() string {
	switch a {
	case Azure, Triton, Ollama: // whose paths are of several roots
		return ""
	}
	return "/v1"
}

// Lists reports whether the API can say which models there are.
func (a API) ListsModels() bool { return a != Azure && a != Triton }

// Chats reports whether servers of the API have chat completions as well.
func (a API) SupportsChat() bool { return a != Triton && a != Embeddings && a != Rerank }

// Chat is the target as one of chat completions, which stand beside its own API.
// Their key is a bearer's, unless another header is written.
func (t Target) Chat() Target {
	switch t.API {
	case Azure:
		return t
	case Ollama:
		t.BaseURL += "/v1"
	}
	t.API = Chat
	return t
}

// keyHeader is the header that carries the key, where it is not that of
// Authorization.
func (t Target) keyHeader() string {
	switch t.API {
	case Azure:
		return cmp.Or(t.KeyHeader, "Api-Key")
	case Messages:
		return cmp.Or(t.KeyHeader, "X-Api-Key")
	}
	return t.KeyHeader
}

// LimitField is how the limit of an answer's tokens is called in a request of
// Chat or Azure; other APIs have one name for it.
type LimitField string

const (
	// LimitAuto is MaxTokens until the server refuses it, then
	// MaxCompletionTokens; "" is LimitAuto, too.
	LimitAuto LimitField = "auto"
	// MaxTokens is what every server knows, but OpenAI's reasoning models refuse.
	MaxTokens LimitField = "max_tokens"
	// MaxCompletionTokens is its successor.
	MaxCompletionTokens LimitField = "max_completion_tokens"
)
