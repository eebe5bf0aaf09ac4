package workload

import (
	"cmp"
	"fmt"
	"time"
	"unicode/utf8"
)

// Tokens are the tokens of a conversation, or of a day. Cached is the part of Prompt that a prefix cache
// can serve.
type Tokens struct{ Prompt, Cached, Output float64 }

// Sum returns the tokens that count for a budget.
func (t Tokens) Sum() float64 { return t.Prompt + t.Output }

func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Prompt + o.Prompt, t.Cached + o.Cached, t.Output + o.Output}
}

func (t Tokens) Times(n float64) Tokens { return Tokens{t.Prompt * n, t.Cached * n, t.Output * n} }

func (t Tokens) String() string {
	return fmt.Sprintf("%s prompt and %s output tokens", Amount(t.Prompt), Amount(t.Output))
}

// Amount formats n with three digits and k, M or G.
func Amount(n float64) string {
	unit := ""
	for _, larger := range []string{"k", "M", "G"} {
		if n < 999.5 {
			break
		}
		n, unit = n/1000, " "+larger
	}
	return fmt.Sprintf("%.3g%s", n, unit)
}

// Price is the price of a million tokens, in any currency.
type Price struct {
	Prompt float64 `yaml:"prompt" required:"true" min:"0" examples:"0.15"`
	Cached float64 `yaml:"cached" min:"0" examples:"0.075"`
	Output float64 `yaml:"output" required:"true" min:"0" examples:"0.6"`
}

func (p Price) Cost(t Tokens) float64 {
	return ((t.Prompt-t.Cached)*p.Prompt + t.Cached*p.Cached + t.Output*p.Output) / 1e6
}

// Footprint is what a job is expected to use.
type Footprint struct {
	// Conversation is the average of one conversation whose answers have their maximum length. The
	// prefix cache can serve earlier turns and openings.
	Conversation Tokens
	// Day is 0 if unknown: without a budget, a closed loop uses as much as the deployment can serve.
	Day Tokens
	// Bursts is the most that bursts add to a day.
	Bursts Tokens
	// LimitedByBudget says that the job would use more without a budget.
	LimitedByBudget bool
}

const minutesPerDay = 24 * 60

// Footprint returns the footprint of the traffic, given the tokens of one conversation.
func (t Traffic) Footprint(conversation Tokens) Footprint {
	f := Footprint{Conversation: conversation}
	base, bursts := t.Rate*60*minutesPerDay, t.burstRate()*60*minutesPerDay // conversations per day
	if perDay := t.Budget.perDay(); perDay > 0 {
		if allowed := perDay / conversation.Sum(); base+bursts > allowed || t.Rate == 0 {
			if base > allowed || t.Rate == 0 {
				base = allowed
			}
			bursts, f.LimitedByBudget = min(bursts, allowed-base), true
		}
	}
	f.Day, f.Bursts = conversation.Times(base), conversation.Times(bursts)
	return f
}

// burstRate returns the most conversations per second that bursts add on average.
func (t Traffic) burstRate() float64 {
	if NewPace(t) == nil {
		return 0
	}
	const perHour = min(burstsPerHour, time.Hour/(longBurst+coolDown))
	return (t.BurstRate - t.Rate) * float64(perHour*longBurst) / float64(time.Hour)
}

// ExpectedTokens returns the average tokens of one conversation, for Footprint.
func (s *Source) ExpectedTokens() Tokens {
	return s.average(s.conversationTokens)
}

// FirstTurnTokens returns the tokens of APIs with one turn and no output tokens, such as embeddings.
func (s *Source) FirstTurnTokens() Tokens {
	return s.average(func(c Conversation) Tokens { return Tokens{Prompt: float64(s.EstimatePrompt(c, 1))} })
}

// average returns the mean over the conversations of the file, or else the tokens of the longest
// generated conversation.
func (s *Source) average(tokens func(Conversation) Tokens) (sum Tokens) {
	if len(s.conversations) == 0 {
		return tokens(s.longestConversation())
	}
	for i := range s.conversations {
		c := Conversation{ID: uint64(i)}
		s.replayFile(&c)
		c.CharsOpening = countChars(c.Opening)
		sum = sum.Plus(tokens(c))
	}
	return sum.Times(1 / float64(len(s.conversations)))
}

// longestConversation returns a conversation with the most turns. It has no generated texts.
func (s *Source) longestConversation() Conversation {
	c := Conversation{
		Turns:        max(s.spec.TurnsMin, s.spec.TurnsMax, 1),
		CharsOpening: s.chars(s.spec.PromptTokens) + utf8.RuneCountInString(s.spec.System),
	}
	for k := range c.Turns - 1 {
		if n := len(s.spec.Followups); n > 0 {
			c.Followups = append(c.Followups, s.spec.Followups[k%n])
		}
	}
	return c
}

// turnShare returns the share of conversations that have a turn, counted from 1.
func (s *Source) turnShare(turn int) float64 {
	smallest, largest := max(s.spec.TurnsMin, 1), s.spec.TurnsMax
	if turn <= smallest || len(s.conversations) > 0 {
		return 1
	}
	return float64(largest-turn+1) / float64(largest-smallest+1)
}

// conversationTokens adds up the turns of c, each times its share.
func (s *Source) conversationTokens(c Conversation) (sum Tokens) {
	repeated := 0
	for turn := 1; turn <= c.Turns; turn++ {
		output := s.outputTokens(c, turn)
		prompt := s.EstimatePrompt(c, turn)
		if turn == 1 && (s.spec.Starters > 0 || len(s.conversations) > 0) {
			repeated = prompt
		}
		tokens := Tokens{float64(prompt), float64(repeated), float64(output)}
		sum = sum.Plus(tokens.Times(s.turnShare(turn)))
		repeated = prompt + output
	}
	return sum
}

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
	return cmp.Or(s.spec.MaxOutputTokens, defaultOutput)
}
