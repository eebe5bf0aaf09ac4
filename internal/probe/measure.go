package probe

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"synthetic/internal/probe/dialect"
)

// measurement collects the events of one stream in the result of its turn.
type measurement struct {
	turn *Result
	// size is the bytes of content, reasoning, refusal and tool calls. lastToken is zero before the first one.
	size      int
	lastToken time.Time
	*buffers  // nil before the first token
	reasoning []byte
	refusal   []byte
	calls     calls
	counts    counts

	// model and worker are the server's names of what answers.
	model, worker string
	// said is the last message of an event without tokens, abort the server's name of the reason Aborted.
	said, abort string
	done        bool
}

// counts is what the usages of a stream, and the sizes of its events, say about its tokens.
type counts struct {
	dialect.Usage
	// impossible says why a usage cannot be true; "" if none was impossible.
	impossible string
	// reasoningTooLarge is true if a usage had more reasoning than output, cachedBeside if it had more cached
	// tokens than prompt, of which they are no part. thinks is true if the server reasoned, perhaps without
	// streaming it.
	reasoningTooLarge, cachedBeside, thinks bool
	// firstTokens is the running usage of the first token-bearing event; 0 if it has none. firstSize is
	// its size. reasoningEvents had reasoning and no content.
	firstTokens, firstSize, reasoningEvents int
}

// add adds the next event, in order of arrival. What most events do not change is not touched, because it is not in the
// CPU's cache: thousands of other streams had it since the last event.
func (m *measurement) add(e *dialect.Event, l limits) {
	if m.turn.Events == 0 {
		m.reach(&m.turn.Phases.FirstEvent, e)
	}
	if e.HasUsage {
		m.addUsage(e.Usage, l)
	}
	if e.FinishReason != "" {
		m.addFinishReason(e)
	}
	keep(&m.model, e.Model)
	keep(&m.worker, e.Worker)
	if e.OtherChoice {
		m.turn.OtherChoices = true
	}
	if e.Thinks {
		m.counts.thinks = true
	}
	switch e.Kind {
	case dialect.Done:
		m.done = true
	case dialect.Token:
		m.addToken(e)
	case dialect.Other:
		keep(&m.said, e.Message)
	}
}

// reach sets a time since the sending to that of an event, unless it is known.
func (m *measurement) reach(after *Opt[time.Duration], e *dialect.Event) {
	if !after.OK {
		*after = Some(e.At.Sub(m.turn.Sent))
	}
}

// addFinishReason keeps the last reason, but Aborted and Filtered stay.
func (m *measurement) addFinishReason(e *dialect.Event) {
	switch reason := &m.turn.FinishReason; {
	case e.FinishReason == dialect.Aborted:
		*reason, m.abort = e.FinishReason, e.Message
	case *reason != dialect.Aborted && *reason != dialect.Filtered:
		*reason = e.FinishReason
	}
}

// addUsage adds the counts of an event, unless they are impossible.
func (m *measurement) addUsage(u dialect.Usage, l limits) {
	c := &m.counts
	if text := l.impossible(u.PromptTokens, u.OutputTokens, m.size); text != "" {
		c.impossible = text
		return
	}
	c.Add(u)
	c.reasoningTooLarge = c.reasoningTooLarge || u.ReasoningKnown && u.ReasoningTokens > u.OutputTokens
	c.cachedBeside = c.cachedBeside || u.CachedKnown && u.PromptTokens > 0 && u.CachedTokens > u.PromptTokens
}

// keep sets a name to the last value that is not empty. Most events have none.
func keep(name *string, value string) {
	if value != "" {
		*name = value
	}
}

func (m *measurement) addToken(e *dialect.Event) {
	r := m.turn
	r.Events++
	r.ReadLagMax = max(r.ReadLagMax, e.Seen.Sub(e.At))
	if e.Coalesced {
		r.Coalesced++
	}
	if r.Events == 1 {
		m.buffers = usedBuffers.Get().(*buffers)
		r.Kernel = true
		m.reach(&r.TTFT, e)
		if e.HasUsage {
			m.counts.firstTokens = min(e.Usage.OutputTokens, m.counts.OutputTokens)
		}
	} else {
		m.gaps = append(m.gaps, e.At.Sub(m.lastToken))
	}
	r.Kernel = r.Kernel && e.Kernel
	m.lastToken = e.At
	m.size += len(e.Content)
	if e.Reasoning != nil || e.Refusal != nil || e.ToolCalls != nil {
		m.addOtherTexts(e)
	}
	if e.Content != nil && len(m.answer) == 0 || e.Refusal != nil || e.ToolCalls != nil {
		m.reach(&r.AnswerTTFT, e)
	}
	m.answer = append(m.answer, e.Content...)
	if r.Events == 1 {
		m.counts.firstSize = m.size - m.calls.ids
	}
}

// addOtherTexts adds everything but content. Behind a buffering proxy, one event may contain all
// kinds of texts.
func (m *measurement) addOtherTexts(e *dialect.Event) {
	before := m.calls.size
	m.reasoning = append(m.reasoning, e.Reasoning...)
	m.refusal = append(m.refusal, e.Refusal...)
	if e.Reasoning != nil && e.Content == nil {
		m.counts.reasoningEvents++
	}
	keep(&m.turn.ReasoningField, e.ReasoningField)
	for i := range e.ToolCalls {
		m.calls.add(&e.ToolCalls[i])
	}
	m.size += len(e.Reasoning) + len(e.Refusal) + m.calls.size - before
}

// end completes the result. The measurement then has no gaps and no answer.
func (m *measurement) end() {
	r := m.turn
	if r.Events > 0 {
		r.NoAnswer = m.isBlank()
		r.Answer, r.Gaps = string(m.answer), append([]time.Duration(nil), m.gaps...)
	}
	r.Reasoning, r.Refusal, r.ToolCalls = string(m.reasoning), string(m.refusal), m.calls.complete()
	m.endTokens()
	m.endTPOT()
	m.returnBuffers()
}

// isBlank reports whether the content is only white space.
func (m *measurement) isBlank() bool { return len(bytes.TrimSpace(m.answer)) == 0 }

// FinishReasons returns the finish reasons whose meaning is known.
func FinishReasons() []string {
	return []string{dialect.Stop, dialect.Length, dialect.ToolCalls, dialect.Filtered, dialect.Aborted}
}

// IsCut reports whether the token limit ended a successful answer.
func (r *Result) IsCut() bool { return r.Outcome == Success && r.FinishReason == dialect.Length }

// onlyReasoning reports whether an answer ended by itself and contains only reasoning.
func (m *measurement) onlyReasoning() bool {
	return m.turn.FinishReason != dialect.Length &&
		len(m.reasoning) > 0 && m.isBlank() && len(m.refusal) == 0 && len(m.calls.all) == 0
}

// endTokens sets the tokens from the usage. A count of 0, which some servers and proxies report, is
// unknown.
func (m *measurement) endTokens() {
	r, c := m.turn, &m.counts
	output := c.OutputTokens
	switch {
	case r.Events == 0 && output == 1:
		output = 0 // it ends the answer and has no text
	case m.contradicted():
		c.impossible = fmt.Sprintf("the usage has %d output tokens, but %d events had some", output, r.Events)
		output = 0
	}
	r.PromptTokens, r.OutputTokens = positive(c.PromptTokens), positive(output)
	if c.CachedKnown && r.PromptTokens.OK {
		r.CachedTokens = Some(c.CachedTokens)
	}
	switch {
	case !r.OutputTokens.OK:
		r.UsageImpossible = c.impossible
		r.OutputTokens, r.UsageMissing = positive(r.Events), r.Events > 0
	case c.ReasoningKnown:
		r.ReasoningTokens = Some(c.ReasoningTokens)
	}
}

// buffers grow with each token of a turn. Later turns use them again: in a sweep of 1,000 streams, growing them was 14 of
// 77 MB of allocations.
type buffers struct {
	gaps   []time.Duration
	answer []byte
}

// maxKeptBuffer is the capacity in bytes of the largest buffer that is used again. Usual answers need less.
const maxKeptBuffer = 64 << 10

var usedBuffers = sync.Pool{New: func() any { return new(buffers) }}

// returnBuffers gives them back.
func (m *measurement) returnBuffers() {
	b := m.buffers
	if b == nil {
		return
	}
	if b.gaps = b.gaps[:0]; cap(b.gaps) > maxKeptBuffer/8 {
		b.gaps = nil
	}
	if b.answer = b.answer[:0]; cap(b.answer) > maxKeptBuffer {
		b.answer = nil
	}
	m.buffers = nil
	usedBuffers.Put(b)
}
