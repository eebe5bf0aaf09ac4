package runfile

import (
	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// Conversations sums the conversations that were sent in a block; reports call them sessions. It leaves out
// conversations that a fault of the prober or a user ended, or that were shortened.
type Conversations struct {
	Ended uint64 `json:"ended"`
	// Cut counts the conversations that the end of the measurement cut. The other fields leave them out.
	Cut   uint64 `json:"cut,omitempty"`
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

// EndConversation counts a conversation that was sent in the block, when it has ended or was cut.
func (b *Block) EndConversation(c *probe.Conversation) {
	cut := c.Outcome == probe.Canceled
	if c.Outcome.Own() && !cut || c.Shortened || c.Sent.IsZero() {
		return
	}
	if b.Conversations == nil {
		b.Conversations = &Conversations{}
	}
	s := b.Conversations
	if cut {
		s.Cut++
		return
	}
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

// JudgedSession is the verdict of an objective on a conversation.
type JudgedSession struct {
	Objective string
	Judgement slo.Judgement
	// Failed is true if a failed turn ended the conversation.
	Failed bool
	// LeftOut is the number of its turns if it is not judged because of the prober's own lag, otherwise 0.
	LeftOut int
}

// JudgeSession judges a conversation by an objective on sessions.
func JudgeSession(c *probe.Conversation, o slo.Objective) JudgedSession {
	j := JudgedSession{Objective: o.Name, Judgement: o.JudgeSession(c), Failed: c.Outcome.Failed()}
	if j.Judgement == slo.NotJudged && c.Duration() > o.Threshold && !c.Outcome.OwnFault() {
		j.LeftOut = c.Turns
	}
	return j
}

// CountSession counts the verdict on a conversation that was sent in the block.
func (b *Block) CountSession(j JudgedSession) {
	b.NotJudged += uint64(j.LeftOut)
	if j.Judgement == slo.NotJudged {
		return
	}
	if b.SLOs == nil {
		b.SLOs = map[string]Judged{}
	}
	n := b.SLOs[j.Objective]
	if j.Judgement == slo.Good {
		n.Good++
	} else {
		n.Bad++
	}
	if j.Failed {
		n.Failed++
	}
	b.SLOs[j.Objective] = n
}
