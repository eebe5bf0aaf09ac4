package stream

// FinishReason is a reason in the words of chat completions; those of other APIs
// are put into them. It saves the allocation for the ones that servers give.
func FinishReason[T string | []byte](b T) string {
	switch string(b) {
	case "stop", "end_turn", "stop_sequence", "completed":
		return "stop"
	case "length", "max_tokens", "max_output_tokens":
		return "length"
	case "tool_calls", "tool_use":
		return "tool_calls"
	case "content_filter", "refusal":
		return "content_filter"
	default:
		return clip([]byte(b))
	}
}
