package dialect

// Usage has the server's own token counts.
type Usage struct {
	// PromptTokens and OutputTokens are 0 if unknown.
	PromptTokens, OutputTokens int
	// CachedTokens is valid only if CachedKnown.
	CachedTokens int
	CachedKnown  bool
	// ReasoningTokens is the part of OutputTokens spent on reasoning. It is valid only if
	// ReasoningKnown.
	ReasoningTokens int
	ReasoningKnown  bool
}

// Add adds the counts of a later event. The largest of each counts, because some servers and proxies end
// a running count with 0. Cached tokens above the prompt, and reasoning above the output, are no figures.
func (u *Usage) Add(v Usage) {
	u.PromptTokens, u.OutputTokens = max(u.PromptTokens, v.PromptTokens), max(u.OutputTokens, v.OutputTokens)
	if v.CachedKnown && v.CachedTokens <= u.PromptTokens {
		u.CachedTokens, u.CachedKnown = max(u.CachedTokens, v.CachedTokens), true
	}
	if v.ReasoningKnown && v.ReasoningTokens <= u.OutputTokens {
		u.ReasoningTokens, u.ReasoningKnown = max(u.ReasoningTokens, v.ReasoningTokens), true
	}
}

// readUsage reads the object of token counts. It returns false if it has neither prompt nor output.
func readUsage(s *scanner) (u Usage, ok bool) {
	var hasPrompt, hasOutput bool
	total := 0
	for name := range s.members {
		switch string(name) {
		case "prompt_tokens", "input_tokens": // chat completions; responses
			largest(s, &u.PromptTokens, &hasPrompt)
		case "completion_tokens", "output_tokens":
			largest(s, &u.OutputTokens, &hasOutput)
		case "total_tokens":
			total, _ = s.count()
		case "prompt_tokens_details", "input_tokens_details":
			for range s.only("cached_tokens") {
				largest(s, &u.CachedTokens, &u.CachedKnown)
			}
		case "prompt_cache_hit_tokens", // DeepSeek
			"cache_read_input_tokens", // Anthropic behind LiteLLM
			"cached_tokens",           // Moonshot
			"num_cached_tokens":       // Mistral, vLLM's own API
			largest(s, &u.CachedTokens, &u.CachedKnown)
		case "completion_tokens_details", "output_tokens_details":
			for range s.only("reasoning_tokens") {
				largest(s, &u.ReasoningTokens, &u.ReasoningKnown)
			}
		case "reasoning_tokens": // SGLang, Perplexity
			largest(s, &u.ReasoningTokens, &u.ReasoningKnown)
		default:
			s.skip()
		}
	}
	// xAI and Gemini count reasoning beside the output; the total shows it.
	if u.ReasoningTokens > 0 && hasOutput && total == u.PromptTokens+u.OutputTokens+u.ReasoningTokens {
		u.OutputTokens += u.ReasoningTokens
	}
	return u, hasPrompt || hasOutput
}

// largest reads a count and keeps it if it is larger than an earlier one.
func largest(s *scanner, n *int, known *bool) {
	if v, ok := s.count(); ok {
		*n, *known = max(*n, v), true
	}
}
