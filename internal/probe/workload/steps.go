package workload

import (
	"slices"
	"time"

	"synthetic/internal/probe/workload/trace"
)

// Step is a request of a recorded session.
type Step struct {
	// Lane identifies steps that are sent one after the other. The lanes of one Agent are one session for
	// routers.
	Lane, Agent int
	// Needs are earlier steps that must be met first. A step without Needs starts After after the start
	// of the conversation.
	Needs []trace.Need
	After time.Duration
	// tokens estimates the prompt.
	tokens int
}

// planSteps plans a recorded session. Prompts are written when they are due, because together they can be
// a hundred times as long as the longest one.
func (s *Source) planSteps(c *Conversation, rec trace.Record) {
	for i := range rec.Turns {
		t := &rec.Turns[i]
		c.Steps = append(c.Steps, Step{Lane: t.Lane, Agent: t.Agent, Needs: slices.Clone(t.Needs), After: t.After, tokens: t.Prompt})
		c.Outputs = append(c.Outputs, t.Output)
		if t.Prompt == 0 {
			_, messages := rec.Prompt(i)
			for _, m := range messages {
				c.Steps[i].tokens += s.tokens(len(m.Content))
			}
		}
	}
	c.Prompt = func(step int) []Message {
		t := rec.Turns[step]
		t.Blocks, t.Messages = rec.Prompt(step)
		return s.withSystem(s.recordedMessages(t, c.ID, uint64(step)))
	}
}

// Hasten divides the pauses of a conversation by speed.
func (c *Conversation) Hasten(speed float64) {
	hasten := func(d *time.Duration) { *d = time.Duration(float64(*d) / speed) }
	for i := range c.Think {
		hasten(&c.Think[i])
	}
	for i := range c.Steps {
		hasten(&c.Steps[i].After)
		for k := range c.Steps[i].Needs {
			hasten(&c.Steps[i].Needs[k].Delay)
		}
	}
}

// FirstTurn returns a conversation of the first turn only, with the workload's limit of the answer.
func (c Conversation) FirstTurn() Conversation {
	if c.Steps != nil {
		c.Opening = c.Prompt(0)
		c.CharsOpening = countChars(c.Opening)
	}
	c.Turns, c.Steps, c.Prompt, c.Outputs, c.Patience = 1, nil, nil, nil, nil
	return c
}

// stepTokens estimates the prompt and output tokens of all steps.
func (s *Source) stepTokens(c Conversation) (n int) {
	for i := range c.Steps {
		n += c.Steps[i].tokens + s.outputTokens(c, i+1)
	}
	return n
}
