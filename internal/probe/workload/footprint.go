package workload

import (
	"cmp"
	"fmt"
	"time"
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
func (s *Source) ExpectedTokens() (sum Tokens) {
	n := 0.0
	for o := range s.outlines {
		sum, n = sum.Plus(s.outlineTokens(o)), n+1
	}
	return sum.Times(1 / n)
}

// defaultOutput is the assumed length of an answer without a limit, in tokens.
const defaultOutput = 500

// Estimate estimates the prompt and output tokens of a conversation. Each turn sends the whole
// history again.
func (s *Source) Estimate(c Conversation) int {
	total := int(s.outlineTokens(s.outline(c)).Sum())
	if len(s.spec.Tools) > 0 {
		total *= 2 // a turn may call a tool, which takes another request
	}
	return total
}

// EstimatePrompt estimates the prompt tokens of a turn, counted from 1.
func (s *Source) EstimatePrompt(c Conversation, turn int) int {
	return s.outline(c).prompt(turn)
}

// EstimateOutput returns the maximum length of a turn's answer.
func (s *Source) EstimateOutput(c Conversation, turn int) int {
	if turn <= len(c.Outputs) && c.Outputs[turn-1] > 0 {
		return c.Outputs[turn-1]
	}
	return cmp.Or(s.spec.MaxOutputTokens, defaultOutput)
}
