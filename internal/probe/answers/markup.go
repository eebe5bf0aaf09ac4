package answers

import "strings"

// markup begins what models write around calls and turns. A parser that knows
// its model takes it out; in a text it is a call that no client sees, or one that
// is shown to the user.
func markup() []string {
	return []string{
		"<tool_call", "</tool_call", "<function=", "<|tool_call", // Qwen, Hermes, Nemotron; Kimi, Granite, GLM
		"<|python_tag|>", "<|eom_id|>", "<|start_header_id|>", "<|eot_id|>", // Llama
		"[TOOL_CALLS]", "[/TOOL_CALLS]", "[TOOL_RESULTS]", // Mistral
		"<｜tool▁call", "<｜DSML｜", // DeepSeek
		"<|channel|>", "<|constrain|>", "<|recipient|>", // gpt-oss
		"<|START_ACTION|>", "<minimax:tool_call", "<longcat_tool_call", "<TOOLCALL>", // Cohere, MiniMax, LongCat, Nemotron
		"<|im_start|>", "<|im_end|>",
	}
}

// leaked returns the first markup in a text, "" if there is none.
func leaked(text string) string {
	for _, m := range markup() {
		if strings.Contains(text, m) {
			return m
		}
	}
	return ""
}
