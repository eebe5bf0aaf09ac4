package dialect

import "strings"

// The finish reasons of chat completions, and Aborted for all that mean a failed answer.
const (
	Stop      = "stop"
	Length    = "length"
	ToolCalls = "tool_calls"
	Filtered  = "content_filter"
	Aborted   = "aborted"
)

// finishRows says how each finish reason of a server ends an answer. A reason that is not here is complete,
// under its own name, unless it begins as an error.
var finishRows = []struct{ server, end, reasons string }{
	{"chat completions", Stop, "stop"},
	{"chat completions", ToolCalls, "tool_calls function_call"},
	{"chat completions", Length, "length"},
	{"chat completions", Filtered, "content_filter"},
	{"Anthropic, Bedrock", Stop, "end_turn stop_sequence pause_turn"},
	{"Anthropic, Bedrock", ToolCalls, "tool_use"},
	{"Anthropic, Bedrock", Length, "max_tokens model_context_window_exceeded"},
	{"Anthropic, Bedrock", Filtered, "refusal content_filtered guardrail_intervened"},
	{"Bedrock", Aborted, "malformed_model_output malformed_tool_use"},
	{"responses", Stop, "completed"},
	{"responses", Length, "max_output_tokens"},
	{"responses", Aborted, "cancelled failed incomplete"},
	{"vLLM, SGLang: the engine gave the request up", Aborted, "abort aborted error"},
	{"Dynamo", Aborted, "cancelled timeout"},
	{"TGI, Together", Stop, "eos_token eos"},
	{"Cohere", Stop, "complete"},
	{"Cohere", ToolCalls, "tool_call"},
	{"Cohere", Filtered, "error_toxic"},
	{"Cohere", Aborted, "error error_limit user_cancel timeout"},
	{"Gemini", Filtered, "safety image_safety recitation image_recitation blocklist prohibited_content image_prohibited_content spii model_armor"},
	{"Gemini", Aborted, "malformed_function_call malformed_response missing_thought_signature unexpected_tool_call too_many_tool_calls"},
	{"Gemini", Aborted, "language image_other no_image"},
	{"Mistral", Length, "model_length"},
	{"Zhipu", Filtered, "sensitive"},
	{"Zhipu", Aborted, "network_error"},
	{"DeepSeek", Aborted, "insufficient_system_resource"},
	{"watsonx", Length, "token_limit"},
	{"watsonx", Aborted, "not_finished canceled time_limit"},
	{"Alibaba: the answer goes on", "", "null"},
}

var finishReasons = func() map[string]string {
	reasons := map[string]string{"": ""}
	for _, row := range finishRows {
		for _, name := range strings.Fields(row.reasons) {
			reasons[name] = row.end
		}
	}
	return reasons
}()

// FinishReason translates a finish reason of any API to the name that chat completions use. It returns Aborted
// for a failed answer. The usual ones need no allocation.
func FinishReason[T string | []byte](b T) string {
	if reason, ok := finishReasons[string(b)]; ok {
		return reason
	}
	name := clip([]byte(b))
	usual := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	if reason, ok := finishReasons[usual]; ok {
		return reason
	}
	if strings.HasPrefix(usual, "error") || strings.HasPrefix(usual, "malformed") {
		return Aborted
	}
	return name
}

// markFinish sets the finish reason of the event from the server's name of it.
func (ev *Event) markFinish(name []byte) {
	if len(name) == 0 {
		return
	}
	if ev.FinishReason = FinishReason(name); ev.FinishReason == Aborted && ev.Kind != Error {
		ev.Message = clip(name)
	}
}
