package stream

import "strings"

// The finish reasons of chat completions, and Aborted for all that mean a failed answer.
const (
	Stop      = "stop"
	Length    = "length"
	ToolCalls = "tool_calls"
	Filtered  = "content_filter"
	Aborted   = "aborted"
)

// finishReasons says how each finish reason of a server ends an answer, with the servers that send it. A
// reason that is not here is complete, under its own name.
var finishReasons = map[string]string{
	"stop":          Stop, // chat completions
	"end_turn":      Stop, // Anthropic, Bedrock
	"stop_sequence": Stop, // Anthropic, Bedrock, TGI
	"pause_turn":    Stop, // Anthropic: a server tool paused
	"completed":     Stop, // responses
	"complete":      Stop, // Cohere
	"eos":           Stop, // Together
	"eos_token":     Stop, // TGI, watsonx

	"tool_calls":    ToolCalls, // chat completions
	"tool_call":     ToolCalls, // Cohere
	"tool_use":      ToolCalls, // Anthropic, Bedrock
	"function_call": ToolCalls, // chat completions before tools

	"length":                        Length, // chat completions
	"max_tokens":                    Length, // Anthropic, Gemini, Cohere
	"max_output_tokens":             Length, // responses
	"model_length":                  Length, // Mistral
	"token_limit":                   Length, // watsonx
	"model_context_window_exceeded": Length, // Anthropic, Bedrock

	"content_filter":       Filtered, // chat completions
	"content_filtered":     Filtered, // Bedrock
	"guardrail_intervened": Filtered, // Bedrock
	"refusal":              Filtered, // Anthropic
	"sensitive":            Filtered, // Zhipu
	"safety":               Filtered, // Gemini, as the five below
	"image_safety":         Filtered,
	"recitation":           Filtered,
	"blocklist":            Filtered,
	"prohibited_content":   Filtered,
	"spii":                 Filtered,
	"error_toxic":          Filtered, // Cohere

	"abort":                        Aborted, // vLLM, SGLang: the engine gave the request up
	"aborted":                      Aborted,
	"error":                        Aborted, // vLLM, Mistral, OpenRouter, Cohere
	"cancelled":                    Aborted, // responses, Dynamo, watsonx
	"canceled":                     Aborted,
	"user_cancel":                  Aborted, // Cohere
	"failed":                       Aborted, // responses
	"timeout":                      Aborted, // Cohere, Dynamo
	"time_limit":                   Aborted, // watsonx
	"not_finished":                 Aborted, // watsonx
	"network_error":                Aborted, // Zhipu
	"insufficient_system_resource": Aborted, // DeepSeek
	"malformed_function_call":      Aborted, // Gemini
	"malformed_model_output":       Aborted, // Bedrock, as the next
	"malformed_tool_use":           Aborted,

	"null": "", // Alibaba: the answer goes on
	"":     "",
}

// FinishReason translates the finish reasons of all APIs to those of chat completions, and those of failed
// answers to Aborted. The usual ones need no allocation.
func FinishReason[T string | []byte](b T) string {
	if reason, ok := finishReasons[string(b)]; ok {
		return reason
	}
	name := clip([]byte(b))
	if reason, ok := finishReasons[strings.ReplaceAll(strings.ToLower(name), "-", "_")]; ok {
		return reason
	}
	return name
}

// markFinish sets the finish reason of the event from the server's name of it.
func (ev *Event) markFinish(name []byte) {
	if len(name) == 0 {
		return
	}
	if ev.FinishReason = FinishReason(name); ev.FinishReason == Aborted && ev.Message == "" {
		ev.Message = clip(name)
	}
}
