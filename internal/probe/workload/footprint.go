package workload

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// Tokens are the tokens of a conversation, or of a day.
type Tokens struct {
	// Cached is the part of Prompt that a prefix cache can serve.
	Prompt, Cached, Output float64
}

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

// Price is the price of a million tokens, in any currency. Package yamlform reads the tags.
type Price struct {
	Prompt float64 `yaml:"prompt" required:"true" min:"0" examples:"0.15"`
	Cached float64 `yaml:"cached" min:"0" examples:"0.075"`
	Output float64 `yaml:"output" required:"true" min:"0" examples:"0.6"`
}

// Cost returns the price of t.
func (p Price) Cost(t Tokens) float64 {
	return ((t.Prompt-t.Cached)*p.Prompt + t.Cached*p.Cached + t.Output*p.Output) / 1e6
}

// Footprint is what a job is expected to use.
type Footprint struct {
	// Conversation is the average of one conversation whose answers have their maximum length.
	// Cached is the most a prefix cache can serve: the text of earlier turns, or of an earlier
	// conversation with the same opening.
	Conversation Tokens
	// Day is 0 if unknown: without a budget, a closed loop uses as much as the deployment can
	// serve.
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
	calm, bursts := t.Rate*60*minutesPerDay, t.burstRate()*60*minutesPerDay // conversations per day
	for _, limit := range []int{t.TokensPerDay, t.TokensPerMinute * minutesPerDay} {
		if limit <= 0 {
			continue
		}
		if allowed := float64(limit) / conversation.Sum(); calm+bursts > allowed || t.Rate == 0 && !f.LimitedByBudget {
			if calm > allowed || t.Rate == 0 {
				calm = allowed
			}
			bursts, f.LimitedByBudget = min(bursts, allowed-calm), true
		}
	}
	f.Day, f.Bursts = conversation.Times(calm), conversation.Times(bursts)
	return f
}

// burstRate returns the most conversations per second that bursts add on average.
func (t Traffic) burstRate() float64 {
	if NewPace(t) == nil {
		return 0
	}
	perHour := min(float64(t.Adaptive.BurstsPerHour), time.Hour.Seconds()/(t.Adaptive.Burst+t.Adaptive.CoolDown).Seconds())
	return (t.Adaptive.BurstRate - t.Rate) * perHour * t.Adaptive.Burst.Hours()
}

// ExpectedTokens returns the average tokens of one conversation, for Footprint.
func (s *Source) ExpectedTokens() Tokens {
	if len(s.conversations) == 0 {
		return s.conversationTokens(s.longestConversation(), s.turnShare)
	}
	var all Tokens
	for i := range s.conversations {
		c := Conversation{ID: uint64(i)}
		s.replayFile(&c)
		c.CharsOpening = countChars(c.Opening)
		all = all.Plus(s.conversationTokens(c, func(int) float64 { return 1 }))
	}
	return all.Times(1 / float64(len(s.conversations)))
}

// FirstTurnTokens returns the tokens of APIs with one turn and no output tokens, such as
// embeddings.
func (s *Source) FirstTurnTokens() Tokens {
	if len(s.conversations) == 0 {
		return Tokens{Prompt: float64(s.EstimatePrompt(s.longestConversation(), 1))}
	}
	prompts := 0
	for i := range s.conversations {
		c := Conversation{ID: uint64(i)}
		s.replayFile(&c)
		prompts += int(float64(countChars(c.Opening)) / s.ratio.value())
	}
	return Tokens{Prompt: float64(prompts) / float64(len(s.conversations))}
}

// longestConversation returns a generated conversation with the most turns. It has no texts
// except scripted ones.
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

// turnShare returns the share of generated conversations that have a turn, counted from 1.
func (s *Source) turnShare(turn int) float64 {
	smallest, largest := max(s.spec.TurnsMin, 1), s.spec.TurnsMax
	if turn <= smallest {
		return 1
	}
	return float64(largest-turn+1) / float64(largest-smallest+1)
}

// conversationTokens adds up the turns of c, each times the share of conversations that have
// it.
func (s *Source) conversationTokens(c Conversation, share func(turn int) float64) (all Tokens) {
	repeated := 0
	for turn := 1; turn <= c.Turns; turn++ {
		output := s.outputTokens(c, turn)
		prompt := s.EstimatePrompt(c, turn)
		if turn == 1 && (s.spec.Starters > 0 || len(s.conversations) > 0) {
			repeated = prompt
		}
		tokens := Tokens{float64(prompt), float64(repeated), float64(output)}
		all = all.Plus(tokens.Times(share(turn)))
		repeated = prompt + output
	}
	return all
}
