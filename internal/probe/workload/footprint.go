package workload

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// Tokens are amounts of tokens, of a conversation or of a day.
type Tokens struct {
	// Prompt are those sent, Cached those of them that a prefix cache serves.
	Prompt, Cached, Output float64
}

// Sum is what a budget counts.
func (t Tokens) Sum() float64 { return t.Prompt + t.Output }

// Plus adds amounts.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Prompt + o.Prompt, t.Cached + o.Cached, t.Output + o.Output}
}

// Times multiplies each amount.
func (t Tokens) Times(n float64) Tokens { return Tokens{t.Prompt * n, t.Cached * n, t.Output * n} }

// String says the amounts but for the cached ones, for people.
func (t Tokens) String() string {
	return fmt.Sprintf("%s prompt and %s output tokens", Amount(t.Prompt), Amount(t.Output))
}

// Amount writes a number with three digits and k, M or G.
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

// Price is what a million tokens cost, in a currency that is nobody's business
// here. Package yamlform reads its tags.
type Price struct {
	Prompt float64 `yaml:"prompt" required:"true" min:"0" examples:"0.15"`
	Cached float64 `yaml:"cached" min:"0" examples:"0.075"`
	Output float64 `yaml:"output" required:"true" min:"0" examples:"0.6"`
}

// Of is what so many tokens cost.
func (p Price) Cost(t Tokens) float64 {
	return ((t.Prompt-t.Cached)*p.Prompt + t.Cached*p.Cached + t.Output*p.Output) / 1e6
}

// Footprint is what a job is expected to spend.
type Footprint struct {
	// Conversation is what one costs on average when its answers are as long as
	// they may be. Cached is the most that a prefix cache can serve: what an
	// earlier turn sent, or an earlier conversation with the same opening.
	Conversation Tokens
	// Day is what a day costs. It is 0 where that is not known: without a budget,
	// a closed loop spends what the deployment is fast enough for.
	Day Tokens
	// Bursts is the most that they add to a day (Adaptive).
	Bursts Tokens
	// Budgeted says that it would be more without a budget.
	LimitedByBudget bool
}

const minutesPerDay = 24 * 60

// Footprint returns what traffic spends whose conversations cost so much.
func (t Traffic) Footprint(conversation Tokens) Footprint {
	f := Footprint{Conversation: conversation}
	calm, bursts := t.Rate*60*minutesPerDay, t.inBursts()*60*minutesPerDay // conversations
	for _, most := range []int{t.TokensPerDay, t.TokensPerMinute * minutesPerDay} {
		if most <= 0 {
			continue
		}
		if allowed := float64(most) / conversation.Sum(); calm+bursts > allowed || t.Rate == 0 && !f.LimitedByBudget {
			if calm > allowed || t.Rate == 0 {
				calm = allowed
			}
			bursts, f.LimitedByBudget = min(bursts, allowed-calm), true
		}
	}
	f.Day, f.Bursts = conversation.Times(calm), conversation.Times(bursts)
	return f
}

// inBursts is the most that bursts add to the rate of conversations, on average.
func (t Traffic) inBursts() float64 {
	if NewPace(t) == nil {
		return 0
	}
	an := min(float64(t.Adaptive.BurstsPerHour), time.Hour.Seconds()/(t.Adaptive.Burst+t.Adaptive.CoolDown).Seconds())
	return (t.Adaptive.BurstRate - t.Rate) * an * t.Adaptive.Burst.Hours()
}

// Expected returns what one conversation costs on average, as of Footprint.
func (s *Source) Expected() Tokens {
	if len(s.file) == 0 {
		return s.cost(s.longest(), s.taken)
	}
	var all Tokens
	for i := range s.file {
		c := Conversation{ID: uint64(i)}
		s.replay(&c)
		c.CharsOpening = charsOf(c.Opening)
		all = all.Plus(s.cost(c, func(int) float64 { return 1 }))
	}
	return all.Times(1 / float64(len(s.file)))
}

// SingleShot returns what its first turn costs where there is no answer in tokens
// and no further turn, as with embeddings.
func (s *Source) SingleShot() Tokens {
	if len(s.file) == 0 {
		return Tokens{Prompt: float64(s.EstimatePrompt(s.longest(), 1))}
	}
	prompts := 0
	for i := range s.file {
		c := Conversation{ID: uint64(i)}
		s.replay(&c)
		prompts += int(float64(charsOf(c.Opening)) / s.ratio.value())
	}
	return Tokens{Prompt: float64(prompts) / float64(len(s.file))}
}

// longest returns a generated conversation of the most turns, without its texts
// but for those of a script.
func (s *Source) longest() Conversation {
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

// taken is the share of generated conversations that take a turn, from 1 on.
func (s *Source) taken(turn int) float64 {
	least, most := max(s.spec.TurnsMin, 1), s.spec.TurnsMax
	if turn <= least {
		return 1
	}
	return float64(most-turn+1) / float64(most-least+1)
}

// cost adds up the turns of c, each times the share of conversations that take it.
func (s *Source) cost(c Conversation, taken func(turn int) float64) (all Tokens) {
	repeated := 0
	for turn := 1; turn <= c.Turns; turn++ {
		output := s.output(c, turn)
		prompt := s.EstimatePrompt(c, turn)
		if turn == 1 && (s.spec.Starters > 0 || len(s.file) > 0) {
			repeated = prompt
		}
		one := Tokens{float64(prompt), float64(repeated), float64(output)}
		all = all.Plus(one.Times(taken(turn)))
		repeated = prompt + output
	}
	return all
}
