package probe

import (
	"bytes"
	"cmp"
	"fmt"
	"sync"
	"time"

	"synthetic/internal/probe/dialect"
)

// measurement collects the events of one stream.
type measurement struct {
	sent time.Time

	// These change with every token, so they are beside each other for the CPU's cache.
	events     int // token-bearing
	coalesced  int
	gaps       []time.Duration
	answer     []byte
	size       int // bytes of content, reasoning, refusal and tool calls
	lastToken  time.Time
	readLagMax time.Duration
	kernel     bool

	firstEvent, firstToken, firstAnswer time.Time

	buffers   *buffers // of gaps and answer
	reasoning []byte
	refusal   []byte
	calls     calls

	// reasoningField is the server's name of the reasoning. model and worker are
	// the server's names of what answers.
	reasoningField, model, worker string
	otherChoices                  bool

	usage dialect.Usage
	// impossible says why a usage cannot be true; "" if none was impossible.
	impossible string
	// reasoningTooLarge is true if a usage had more reasoning than output, cachedBeside if it had more cached
	// tokens than prompt, of which they are no part. thinks is true if the server reasoned, perhaps without
	// streaming it.
	reasoningTooLarge, cachedBeside, thinks bool
	// firstTokens is the running usage of the first token-bearing event; 0 if it has none. firstSize is
	// its size. reasoningEvents had reasoning and no content.
	firstTokens, firstSize, reasoningEvents int

	// said is the last message of an event without tokens.
	said string
	// finishReason is the last one, but Aborted and Filtered stay. abort is the server's name of Aborted.
	finishReason, abort string
	done                bool
}

// add adds the next event, in order of arrival.
func (m *measurement) add(e *dialect.Event, l limits) {
	if m.firstEvent.IsZero() {
		m.firstEvent = e.At
	}
	if e.HasUsage {
		m.addUsage(e.Usage, l)
	}
	switch {
	case e.FinishReason == dialect.Aborted:
		m.finishReason, m.abort = e.FinishReason, e.Message
	case m.finishReason != dialect.Aborted && m.finishReason != dialect.Filtered:
		keep(&m.finishReason, e.FinishReason)
	}
	keep(&m.model, e.Model)
	keep(&m.worker, e.Worker)
	m.otherChoices = m.otherChoices || e.OtherChoice
	m.thinks = m.thinks || e.Thinks
	switch e.Kind {
	case dialect.Done:
		m.done = true
	case dialect.Token:
		m.addToken(e)
	case dialect.Other:
		keep(&m.said, e.Message)
	}
}

// addUsage adds the counts of an event, unless they are impossible.
func (m *measurement) addUsage(u dialect.Usage, l limits) {
	if text := l.impossible(u.PromptTokens, u.OutputTokens, m.size); text != "" {
		m.impossible = text
		return
	}
	m.usage.Add(u)
	m.reasoningTooLarge = m.reasoningTooLarge || u.ReasoningKnown && u.ReasoningTokens > u.OutputTokens
	m.cachedBeside = m.cachedBeside || u.CachedKnown && u.PromptTokens > 0 && u.CachedTokens > u.PromptTokens
}

// keep sets a name to the last value that is not empty. Most events have none.
func keep(name *string, value string) {
	if value != "" {
		*name = value
	}
}

func (m *measurement) addToken(e *dialect.Event) {
	m.events++
	m.readLagMax = max(m.readLagMax, e.Seen.Sub(e.At))
	if e.Coalesced {
		m.coalesced++
	}
	if m.firstToken.IsZero() {
		m.takeBuffers()
		m.firstToken, m.kernel = e.At, e.Kernel
		if e.HasUsage {
			m.firstTokens = min(e.Usage.OutputTokens, m.usage.OutputTokens)
		}
	} else {
		m.gaps = append(m.gaps, e.At.Sub(m.lastToken))
		m.kernel = m.kernel && e.Kernel
	}
	m.lastToken = e.At
	m.size += len(e.Content)
	if e.Reasoning != nil || e.Refusal != nil || e.ToolCalls != nil {
		m.addOtherTexts(e)
	}
	if m.firstAnswer.IsZero() && (e.Content != nil || e.Refusal != nil || e.ToolCalls != nil) {
		m.firstAnswer = e.At
	}
	m.answer = append(m.answer, e.Content...)
	if m.events == 1 {
		m.firstSize = m.size - m.calls.ids
	}
}

// addOtherTexts adds everything but content. Behind a buffering proxy, one event may contain all
// kinds of texts.
func (m *measurement) addOtherTexts(e *dialect.Event) {
	before := m.calls.size
	m.reasoning = append(m.reasoning, e.Reasoning...)
	m.refusal = append(m.refusal, e.Refusal...)
	if e.Reasoning != nil && e.Content == nil {
		m.reasoningEvents++
	}
	m.reasoningField = cmp.Or(e.ReasoningField, m.reasoningField)
	for i := range e.ToolCalls {
		m.calls.add(&e.ToolCalls[i])
	}
	m.size += len(e.Reasoning) + len(e.Refusal) + m.calls.size - before
}

// fill fills the result. The measurement then has no gaps and no answer.
func (m *measurement) fill(r *Result) {
	defer m.returnBuffers()
	r.Phases.FirstEvent = m.since(m.firstEvent)
	r.TTFT = m.since(m.firstToken)
	r.AnswerTTFT = m.since(m.firstAnswer)
	r.Events, r.Coalesced, r.Gaps = m.events, m.coalesced, append([]time.Duration(nil), m.gaps...)
	r.ReadLagMax, r.Kernel = m.readLagMax, m.kernel
	r.FinishReason, r.Answer = m.finishReason, string(m.answer)
	r.Reasoning, r.ReasoningField, r.Refusal = string(m.reasoning), m.reasoningField, string(m.refusal)
	r.ToolCalls, r.OtherChoices = m.calls.complete(), m.otherChoices
	r.NoAnswer = m.events > 0 && m.isBlank()
	m.fillTokens(r)
	m.fillTPOT(r)
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
	return m.finishReason != dialect.Length &&
		len(m.reasoning) > 0 && m.isBlank() && len(m.refusal) == 0 && len(m.calls.all) == 0
}

func (m *measurement) since(t time.Time) Opt[time.Duration] {
	if t.IsZero() {
		return Opt[time.Duration]{}
	}
	return Some(t.Sub(m.sent))
}

// fillTokens sets the tokens from the usage. A count of 0, which some servers and proxies report, is
// unknown.
func (m *measurement) fillTokens(r *Result) {
	u := m.usage
	switch {
	case m.events == 0 && u.OutputTokens == 1:
		u.OutputTokens = 0 // it ends the answer and has no text
	case m.contradicted():
		m.impossible = fmt.Sprintf("the usage has %d output tokens, but %d events had some", u.OutputTokens, m.events)
		u.OutputTokens = 0
	}
	positive := func(n int) Opt[int] { return Opt[int]{V: max(n, 0), OK: n > 0} }
	r.PromptTokens, r.OutputTokens = positive(u.PromptTokens), positive(u.OutputTokens)
	if u.CachedKnown && r.PromptTokens.OK {
		r.CachedTokens = Some(u.CachedTokens)
	}
	if u.ReasoningKnown && r.OutputTokens.OK {
		r.ReasoningTokens = Some(u.ReasoningTokens)
	}
	if !r.OutputTokens.OK {
		r.UsageImpossible = m.impossible
	}
	if !r.OutputTokens.OK && m.events > 0 {
		r.OutputTokens, r.UsageMissing = Some(m.events), true
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

// takeBuffers gives the measurement its buffers, with the first token.
func (m *measurement) takeBuffers() {
	m.buffers = usedBuffers.Get().(*buffers)
	m.gaps, m.answer = m.buffers.gaps[:0], m.buffers.answer[:0]
}

// returnBuffers takes them back. The gaps and the answer are empty then.
func (m *measurement) returnBuffers() {
	b := m.buffers
	if b == nil {
		return
	}
	if b.gaps = m.gaps; cap(b.gaps) > maxKeptBuffer/8 {
		b.gaps = nil
	}
	if b.answer = m.answer; cap(b.answer) > maxKeptBuffer {
		b.answer = nil
	}
	m.buffers, m.gaps, m.answer = nil, nil, nil
	usedBuffers.Put(b)
}
