package target

// API is the kind of endpoint that a target is.
type API string

const (
	// Chat is OpenAI's /chat/completions, the default: "" is Chat, too.
	Chat API = "chat"
)

// LimitField is how the limit of an answer's tokens is called in a request.
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
