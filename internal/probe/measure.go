package probe

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"synthetic/internal/probe/stream"
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
	// id is the server's id of the answer.
	id           string
	otherChoices bool

	usage stream.Usage
	// firstTokens is the number of tokens in the first token-bearing event, from its usage. The
	// default is 1, because a prefill yields one token.
	firstTokens int

	finishReason string
	done         bool
}

// add adds the next event, in order of arrival.
func (m *measurement) add(e *stream.Event) {
	if m.firstEvent.IsZero() {
		m.firstEvent = e.At
	}
	if e.HasUsage {
		m.usage = e.Usage
	}
	keep(&m.finishReason, e.FinishReason)
	keep(&m.model, e.Model)
	keep(&m.worker, e.Worker)
	keep(&m.id, e.ID)
	m.otherChoices = m.otherChoices || e.OtherChoice
	switch e.Kind {
	case stream.Done:
		m.done = true
	case stream.Token:
		m.addToken(e)
	}
}

// keep sets a name to the last value that is not empty. Most events have none.
func keep(name *string, value string) {
	if value != "" {
		*name = value
	}
}

func (m *measurement) addToken(e *stream.Event) {
	m.events++
	m.readLagMax = max(m.readLagMax, e.Seen.Sub(e.At))
	if e.Coalesced {
		m.coalesced++
	}
	if m.firstToken.IsZero() {
		m.takeBuffers()
		m.firstToken, m.kernel, m.firstTokens = e.At, e.Kernel, 1
		if e.HasUsage && e.Usage.OutputTokens > 0 {
			m.firstTokens = e.Usage.OutputTokens
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
	if len(e.Content) > 0 {
		if m.firstAnswer.IsZero() {
			m.firstAnswer = e.At
		}
		m.answer = append(m.answer, e.Content...)
	}
}

// addOtherTexts adds everything but content. Behind a buffering proxy, one event may contain all
// kinds of texts.
func (m *measurement) addOtherTexts(e *stream.Event) {
	before := m.calls.size
	m.reasoning = append(m.reasoning, e.Reasoning...)
	m.refusal = append(m.refusal, e.Refusal...)
	m.reasoningField = cmp.Or(e.ReasoningField, m.reasoningField)
	for i := range e.ToolCalls {
		m.calls.add(&e.ToolCalls[i])
	}
	m.size += len(e.Reasoning) + len(e.Refusal) + m.calls.size - before
}

// fill fills the result. The measurement then has no gaps and no answer.
func (m *measurement) fill(r *Result, l limits) {
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
	m.fillTokens(r, l)
	r.TPOT = m.tpot(r.OutputTokens)
}

// isBlank reports whether the content is only white space.
func (m *measurement) isBlank() bool { return len(bytes.TrimSpace(m.answer)) == 0 }

// Finish reasons that do not mean a complete answer.
const finishLength, finishFilter = "length", "content_filter"

// FinishOther stands for all finish reasons that FinishReasons does not list.
const FinishOther = "other"

// FinishReasons returns the values of FinishLabel.
func FinishReasons() []string {
	return []string{"stop", finishLength, "tool_calls", finishFilter, FinishOther}
}

// FinishLabel returns the finish reason as one of FinishReasons, or "" if the answer has none.
func (r *Result) FinishLabel() string {
	if r.FinishReason != "" && !slices.Contains(FinishReasons(), r.FinishReason) {
		return FinishOther
	}
	return r.FinishReason
}

// IsCut reports whether the token limit ended a successful answer.
func (r *Result) IsCut() bool { return r.Outcome == Success && r.FinishReason == finishLength }

// onlyReasoning reports whether an answer ended by itself and contains only reasoning.
func (m *measurement) onlyReasoning() bool {
	return m.finishReason != finishLength &&
		len(m.reasoning) > 0 && m.isBlank() && len(m.refusal) == 0 && len(m.calls.all) == 0
}

func (m *measurement) since(t time.Time) Opt[time.Duration] {
	if t.IsZero() {
		return Opt[time.Duration]{}
	}
	return Some(t.Sub(m.sent))
}

// fillTokens sets the tokens from the usage. Some servers and proxies report 0, omit fields, or
// report more cached tokens than prompt tokens. Such values are unknown. Impossible ones would spoil
// the totals and the budget, so then the whole usage is.
func (m *measurement) fillTokens(r *Result, l limits) {
	u := m.usage
	if r.UsageImpossible = l.impossible(u.PromptTokens, u.OutputTokens, m.size); r.UsageImpossible != "" {
		u, m.firstTokens = stream.Usage{}, 1
	}
	positive := func(n int) Opt[int] { return Opt[int]{V: max(n, 0), OK: n > 0} }
	r.PromptTokens, r.OutputTokens = positive(u.PromptTokens), positive(u.OutputTokens)
	if u.CachedKnown && r.PromptTokens.OK && u.CachedTokens <= u.PromptTokens {
		r.CachedTokens = Some(u.CachedTokens)
	}
	if u.ReasoningKnown && r.OutputTokens.OK && u.ReasoningTokens <= u.OutputTokens {
		r.ReasoningTokens = Some(u.ReasoningTokens)
	}
	if !r.OutputTokens.OK && m.events > 0 {
		r.OutputTokens, r.UsageMissing = Some(m.events), true
	}
}

// tpot returns the mean time between tokens after the first event, without queue and prefill:
// (last token − first token) / (output tokens − tokens of the first event). It is unknown
// without a second token-bearing event, and if all tokens arrived at once.
func (m *measurement) tpot(output Opt[int]) Opt[time.Duration] {
	n := output.V - m.firstTokens
	if !output.OK || m.events < 2 || n < 1 {
		return Opt[time.Duration]{}
	}
	v := m.lastToken.Sub(m.firstToken) / time.Duration(n)
	return Opt[time.Duration]{V: v, OK: v > 0}
}
