package runfile

import (
	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// Conversations sums the conversations that ended in a block; reports call them sessions. It leaves out
// conversations that the prober or a user ended, or that were shortened.
type Conversations struct {
	Ended uint64 `json:"ended"`
	Turns uint64 `json:"turns"`
	// Duration is the time from the first request to the end of the last turn. Its failures count the
	// conversations with a failed turn.
	Duration Distribution `json:"duration"`
	Tokens   Tokens       `json:"tokens"`
	// FirstTokenSeconds, AnswerSeconds and BetweenSeconds are the parts of probe.Spent.
	FirstTokenSeconds float64 `json:"first_token_seconds"`
	AnswerSeconds     float64 `json:"answer_seconds"`
	BetweenSeconds    float64 `json:"between_seconds"`
}

// EndConversation counts a conversation that ended in the block.
func (b *Block) EndConversation(c *probe.Conversation) {
	if c.Outcome.Own() || c.Shortened || c.Sent.IsZero() {
		return
	}
	if b.Conversations == nil {
		b.Conversations = &Conversations{}
	}
	s := b.Conversations
	s.Ended++
	s.Turns += uint64(c.Turns)
	if c.Outcome.Failed() {
		s.Duration.Failures++
	} else {
		s.Duration.observe(probe.Some(c.Duration()), false)
	}
	s.Tokens.Prompt += uint64(c.PromptTokens)
	s.Tokens.Output += uint64(c.OutputTokens)
	if c.CachedOf > 0 {
		addTo(&s.Tokens.Cached, c.CachedTokens)
		addTo(&s.Tokens.CachedOf, c.CachedOf)
	}
	s.FirstTokenSeconds += c.Spent.FirstToken.Seconds()
	s.AnswerSeconds += c.Spent.Answer.Seconds()
	s.BetweenSeconds += c.Spent.Between.Seconds()
}

// JudgeConversation counts a conversation by an objective on sessions.
func (b *Block) JudgeConversation(c *probe.Conversation, o slo.Objective) {
	v := o.JudgeSession(c)
	if v == slo.NotJudged {
		return
	}
	if b.SLOs == nil {
		b.SLOs = map[string]Judged{}
	}
	n := b.SLOs[o.Name]
	if v == slo.Good {
		n.Good++
	} else {
		n.Bad++
	}
	if c.Outcome.Failed() {
		n.Failed++
	}
	b.SLOs[o.Name] = n
}

func (b *Block) mergeConversations(o *Conversations) {
	if o == nil {
		return
	}
	if b.Conversations == nil {
		b.Conversations = &Conversations{}
	}
	s := b.Conversations
	s.Ended, s.Turns = s.Ended+o.Ended, s.Turns+o.Turns
	s.Duration.Merge(o.Duration)
	s.Tokens.merge(o.Tokens)
	s.FirstTokenSeconds += o.FirstTokenSeconds
	s.AnswerSeconds += o.AnswerSeconds
	s.BetweenSeconds += o.BetweenSeconds
}
