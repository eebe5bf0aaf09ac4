package workload

import "unicode/utf8"

// defaultOutput is the assumed length of an answer without a limit, in tokens.
const defaultOutput = 500

// Estimate estimates the prompt and output tokens of a conversation. Each turn sends the whole
// history again.
func (s *Source) Estimate(c Conversation) int {
	total := 0
	for turn := 1; turn <= c.Turns; turn++ {
		total += s.EstimatePrompt(c, turn) + s.outputTokens(c, turn)
	}
	if len(s.spec.Tools) > 0 {
		total *= 2 // a turn may call a tool, which takes another request
	}
	return total
}

// EstimatePrompt estimates the prompt tokens of a turn, counted from 1.
func (s *Source) EstimatePrompt(c Conversation, turn int) int {
	chars := c.CharsOpening
	prompt := 0
	for k := range turn - 1 {
		prompt += s.outputTokens(c, k+1)
		if k < len(c.Followups) {
			chars += utf8.RuneCountInString(c.Followups[k])
		} else {
			prompt += s.spec.FollowupTokens
		}
	}
	return prompt + int(float64(chars)/s.ratio.value())
}

// outputTokens returns the maximum length of a turn's answer.
func (s *Source) outputTokens(c Conversation, turn int) int {
	if turn <= len(c.Outputs) && c.Outputs[turn-1] > 0 {
		return c.Outputs[turn-1]
	}
	if s.spec.MaxOutputTokens > 0 {
		return s.spec.MaxOutputTokens
	}
	return defaultOutput
}
