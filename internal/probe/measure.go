package probe

import (
	"bytes"
	"cmp"
	"time"

	"synthetic/internal/probe/stream"
)

// measurement gathers what the events of one stream say of a turn.
type measurement struct {
	sent time.Time

	events    int // token-bearing
	coalesced int
	gaps      []time.Duration
	answer    []byte
	reasoning []byte
	refusal   []byte
	calls     calls
	size      int // bytes of content, reasoning, refusal and tool calls
	// reasoningField is what the server calls its reasoning.
	reasoningField string
	model          string // that answers, as the server says
	// fingerprint and worker are who answers, as it says.
	fingerprint, worker string
	// otherChoices says that the stream carried more than one.
	otherChoices bool

	firstEvent, firstToken, firstAnswer, lastToken time.Time

	usage stream.Usage
	// firstTokens is how many tokens the first token-bearing event carried:
	// its running usage says so where there is one; otherwise 1, since a
	// prefill yields exactly one token.
	firstTokens int

	finish     string
	done       bool
	readLagMax time.Duration
	kernel     bool
}

// add takes in one event. It must be called in the order of arrival.
func (m *measurement) add(e *stream.Event) {
	if m.firstEvent.IsZero() {
		m.firstEvent = e.At
	}
	if e.HasUsage {
		m.usage = e.Usage
	}
	if e.FinishReason != "" {
		m.finish = e.FinishReason
	}
	if e.Model != "" {
		m.model = e.Model
	}
	m.fingerprint, m.worker = cmp.Or(e.Fingerprint, m.fingerprint), cmp.Or(e.Worker, m.worker)
	m.otherChoices = m.otherChoices || e.OtherChoice
	switch e.Kind {
	case stream.Done:
		m.done = true
	case stream.Token:
		m.addToken(e)
	}
}

func (m *measurement) addToken(e *stream.Event) {
	m.events++
	m.readLagMax = max(m.readLagMax, e.Seen.Sub(e.At))
	if e.Coalesced {
		m.coalesced++
	}
	if m.firstToken.IsZero() {
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
		m.addSilent(e)
	}
	if len(e.Content) > 0 {
		if m.firstAnswer.IsZero() {
			m.firstAnswer = e.At
		}
		m.answer = append(m.answer, e.Content...)
	}
}

// addSilent takes in what a token carries beside content. One event may hold
// all of it, behind a proxy that gathers them.
func (m *measurement) addSilent(e *stream.Event) {
	before := m.calls.size
	m.reasoning = append(m.reasoning, e.Reasoning...)
	m.refusal = append(m.refusal, e.Refusal...)
	if e.ReasoningField != "" {
		m.reasoningField = e.ReasoningField
	}
	for i := range e.ToolCalls {
		m.calls.add(&e.ToolCalls[i])
	}
	m.size += len(e.Reasoning) + len(e.Refusal) + m.calls.size - before
}

// fill writes what was measured into the result.
func (m *measurement) fill(r *Result) {
	r.Phases.FirstEvent = m.since(m.firstEvent)
	r.TTFT = m.since(m.firstToken)
	r.AnswerTTFT = m.since(m.firstAnswer)
	r.Events, r.Coalesced, r.Gaps = m.events, m.coalesced, m.gaps
	r.ReadLagMax, r.Kernel = m.readLagMax, m.kernel
	r.FinishReason, r.Answer = m.finish, string(m.answer)
	r.Reasoning, r.ReasoningField, r.Refusal = string(m.reasoning), m.reasoningField, string(m.refusal)
	r.ToolCalls, r.OtherChoices = m.calls.whole(), m.otherChoices
	r.NoAnswer = m.events > 0 && m.blank()
	m.fillTokens(r)
	r.TPOT = m.tpot(r.OutputTokens)
}

// blank reports whether the answer has no content: white space is none.
func (m *measurement) blank() bool { return len(bytes.TrimSpace(m.answer)) == 0 }

// Finish reasons that say more than that the answer is whole.
const finishLength, finishFilter = "length", "content_filter"

// thoughtOnly reports whether an answer that ended of itself is reasoning and
// nothing else. One that the limit of tokens ended may have had more to say.
func (m *measurement) thoughtOnly() bool {
	return m.finish != finishLength && len(m.reasoning) > 0 && m.blank() && len(m.refusal) == 0 && len(m.calls.all) == 0
}

func (m *measurement) since(t time.Time) Opt[time.Duration] {
	if t.IsZero() {
		return Opt[time.Duration]{}
	}
	return Some(t.Sub(m.sent))
}

// maxTokens is more than any turn has. A larger count is nonsense, and would
// spoil the totals and the budget for good.
const maxTokens = 1e9

// fillTokens takes what usage says. Some servers and proxies fill its fields
// with 0, leave one out, or report more cached tokens than there are: what
// cannot be true is unknown.
func (m *measurement) fillTokens(r *Result) {
	r.PromptTokens = tokens(m.usage.PromptTokens)
	r.OutputTokens = tokens(m.usage.OutputTokens)
	if u := m.usage; u.CachedKnown && r.PromptTokens.OK && u.CachedTokens <= u.PromptTokens {
		r.CachedTokens = Some(u.CachedTokens)
	}
	if u := m.usage; u.ReasoningKnown && r.OutputTokens.OK && u.ReasoningTokens <= u.OutputTokens {
		r.ReasoningTokens = Some(u.ReasoningTokens)
	}
	if !r.OutputTokens.OK && m.events > 0 {
		r.OutputTokens, r.UsageMissing = Some(m.events), true
	}
}

// tokens is a count that a server gave, unknown if it cannot be one.
func tokens(n int) Opt[int] {
	if n <= 0 || n > maxTokens {
		return Opt[int]{}
	}
	return Some(n)
}

// tpot is (last token − first token) / (output tokens − tokens of the first
// event): the mean time between tokens after the first event, prefill and
// queue left out. It is undefined without a second token-bearing event, for
// then no time passed that could be divided.
func (m *measurement) tpot(output Opt[int]) Opt[time.Duration] {
	n := output.V - m.firstTokens
	if !output.OK || m.events < 2 || n < 1 {
		return Opt[time.Duration]{}
	}
	return Some(m.lastToken.Sub(m.firstToken) / time.Duration(n))
}
