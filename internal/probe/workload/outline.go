package workload

import (
	"cmp"
	"math/rand/v2"
	"unicode/utf8"
)

// outline holds the lengths of a conversation in tokens.
type outline struct {
	opening   int   // the system message and the first user message
	followups []int // one less than outputs
	outputs   []int // the maximum length of each answer
}

// prompt returns the tokens of the prompt of a turn, counted from 1. Results of tools are not planned.
func (o outline) prompt(turn int) int {
	tokens := o.opening
	for k := range min(turn-1, len(o.followups)) {
		tokens += o.outputs[k] + o.followups[k]
	}
	return tokens
}

// drawOutline draws the lengths of a conversation with at most the given number of turns.
func (s *Source) drawOutline(rng *rand.Rand, d Dists, turns, opening int) outline {
	o := outline{opening: opening}
	for range turns {
		output := cmp.Or(s.spec.MaxOutputTokens, defaultOutput)
		if d.Output != nil {
			output = d.Output.count(rng)
		}
		o.outputs = append(o.outputs, output)
	}
	context := opening + o.outputs[0]
	for k := range turns - 1 {
		followup := s.drawFollowup(k, rng, d.Followup)
		context += followup + o.outputs[k+1]
		if limit := s.spec.ContextTokens; limit > 0 && context > limit {
			o.outputs = o.outputs[:k+1]
			break
		}
		o.followups = append(o.followups, followup)
	}
	return o
}

// drawFollowup returns the length of follow-up k, counted from 0.
func (s *Source) drawFollowup(k int, rng *rand.Rand, lengths *Dist) int {
	switch n := len(s.spec.Followups); {
	case n > 0:
		return s.tokens(utf8.RuneCountInString(s.spec.Followups[k%n]))
	case lengths != nil:
		return lengths.count(rng)
	}
	return s.spec.FollowupTokens
}

// outline returns the lengths of a planned conversation.
func (s *Source) outline(c Conversation) outline {
	o := outline{opening: s.tokens(c.CharsOpening)}
	for k := range c.Turns {
		o.outputs = append(o.outputs, s.EstimateOutput(c, k+1))
		if k < len(c.Followups) {
			o.followups = append(o.followups, s.tokens(utf8.RuneCountInString(c.Followups[k])))
		} else if k < c.Turns-1 {
			o.followups = append(o.followups, s.spec.FollowupTokens)
		}
	}
	return o
}

// outlineTokens adds up the turns of a conversation. Each turn sends the whole history again.
func (s *Source) outlineTokens(o outline) (sum Tokens) {
	prompt, cached := o.opening, s.systemTokens()
	if s.spec.Starters > 0 {
		cached = prompt
	}
	for k, output := range o.outputs {
		sum = sum.Plus(Tokens{float64(prompt), float64(min(cached, prompt)), float64(output)})
		cached = prompt + output
		if k < len(o.followups) {
			prompt = cached + o.followups[k]
		}
	}
	return sum
}

// systemTokens returns the length of the system message in tokens.
func (w *writer) systemTokens() int {
	if w.spec.SystemTokens > 0 {
		return w.spec.SystemTokens
	}
	return w.tokens(utf8.RuneCountInString(w.spec.System))
}

// Random conversations for ExpectedTokens: at most expectedDraws, and fewer if they have more turns in total
// than expectedTurns.
const (
	expectedDraws = 4000
	expectedTurns = 400_000
)

// outlines yields conversations whose mean is the mean of all: random ones, or one for each number of turns if
// everything else is fixed.
func (s *Source) outlines(yield func(outline) bool) {
	d := s.spec.Dists
	if d == (Dists{}) {
		least := max(s.spec.TurnsMin, 1)
		for turns := least; turns <= max(s.spec.TurnsMax, least); turns++ {
			if !yield(s.drawOutline(nil, Dists{}, turns, s.drawOpening(nil, nil))) {
				return
			}
		}
		return
	}
	rng := newRand(s.spec.Seed, streamEstimate)
	for n, turns := 0, 0; n < expectedDraws && turns < expectedTurns; n++ {
		o := s.drawOutline(rng, d, s.drawTurns(rng), s.drawOpening(rng, d.Prompt))
		turns += len(o.outputs)
		if !yield(o) {
			return
		}
	}
}

// drawOpening draws the tokens of the system message and the first user message.
func (s *Source) drawOpening(rng *rand.Rand, lengths *Dist) int {
	if lengths == nil {
		return s.systemTokens() + s.spec.PromptTokens
	}
	return s.systemTokens() + lengths.count(rng)
}
