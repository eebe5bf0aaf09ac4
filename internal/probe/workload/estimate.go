package workload

import "unicode/utf8"

// defaultOutput is the length assumed of an answer without a limit, in tokens.
const defaultOutput = 500

// Estimate returns about how many tokens a conversation will cost, prompts and
// answers of all its turns: each turn sends the whole history again.
func (s *Source) Estimate(c Conversation) int {
	total := 0
	for turn := 1; turn <= c.Turns; turn++ {
		total += s.EstimatePrompt(c, turn) + s.output(c, turn)
	}
	if len(s.spec.Tools) > 0 {
		total *= 2 // each turn may call, and the results are another
	}
	return total
}

// EstimatePrompt returns about how many prompt tokens a turn, counted from 1,
// will send.
func (s *Source) EstimatePrompt(c Conversation, turn int) int {
	chars := c.CharsOpening
	prompt := 0
	for k := range turn - 1 {
		prompt += s.output(c, k+1)
		if k < len(c.Followups) {
			chars += utf8.RuneCountInString(c.Followups[k])
		} else {
			prompt += s.spec.FollowupTokens
		}
	}
	return prompt + int(float64(chars)/s.ratio.value())
}

// output is the most tokens of a turn's answer.
func (s *Source) output(c Conversation, turn int) int {
	if turn <= len(c.Outputs) && c.Outputs[turn-1] > 0 {
		return c.Outputs[turn-1]
	}
	if s.spec.MaxOutputTokens > 0 {
		return s.spec.MaxOutputTokens
	}
	return defaultOutput
}
