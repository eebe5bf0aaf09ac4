package probe

import (
	"fmt"

	"synthetic/internal/bound"
	"synthetic/internal/probe/wire"
	"synthetic/internal/probe/workload"
)

// An answer is limited in proportion to the requested tokens. The limits are above what any
// server sends that respects max_tokens. Without max_tokens, and as an upper bound, the maximum
// values apply.
const (
	// The event of a token has 200 to 400 bytes, or about 3,000 with the logprobs of 20
	// alternatives. Headers, keep-alives and an echoed prompt are additional.
	wireBase, wirePerToken, wireMax = 64 << 10, 4 << 10, 32 << 20
	// One event may contain the whole answer, for example behind a buffering proxy, or the IDs of all prompt
	// tokens, as of vLLM.
	eventBase, eventPerToken, eventMax = 128 << 10, 256, 16 << 20
	// The ID of a token has up to 8 bytes with its comma and space, and a token at least a byte of the request.
	idBytes = 8
	// eventUnlimited is eventBase plus the longest answer without max_tokens.
	eventUnlimited = 1 << 20
	// A server sends at most one event per token. Four times that allows for servers that split
	// characters.
	eventsBase, eventsPerToken, eventsMax = 64, 4, 1 << 16
	// A token has about 4 bytes; the longest tokens, of spaces, have about 100.
	answerBase, answerPerToken, answerMax = 1 << 10, 64, 1 << 20
	// A prompt has at most a token per byte of the request. A chat template, or the system prompt of
	// a gateway, adds to it.
	promptAdded = 8 << 10

	// maxAdded bounds the bytes that answers add to the history, which is
	// kept and sent again with each turn. The conversation then ends. It is about 100,000 tokens.
	maxAdded = 512 << 10
	// turnOverhead is the memory of a turn apart from its texts: a connection, two goroutines
	// and their buffers.
	turnOverhead = 48 << 10
)

type limits struct {
	// events is the number of token-bearing events, answer the bytes of all texts, event the bytes of
	// one event, wire the number of bytes received.
	events, answer, event int
	wire                  int64
	maxTokens             int // requested; 0 means no limit
	sent                  int // bytes of the request
}

// newLimits returns the limits for the answer to a request of sentBytes.
func newLimits(maxTokens, sentBytes int) limits {
	tokens, ids := answerMax, idBytes*sentBytes // all maxima apply to so many tokens, and they do not overflow
	if maxTokens > 0 {
		tokens = min(maxTokens, answerMax)
	}
	return limits{
		maxTokens: max(maxTokens, 0),
		sent:      sentBytes,
		wire:      int64(min(wireBase+wirePerToken*tokens+2*ids, wireMax)),
		event:     min(min(eventBase+eventPerToken*tokens, eventUnlimited)+ids, eventMax),
		events:    min(eventsBase+eventsPerToken*tokens, eventsMax),
		answer:    min(answerBase+answerPerToken*tokens, answerMax),
	}
}

// violation describes the limit that an answer exceeds; "" if none.
func (l limits) violation(seen *measurement) string {
	var text string
	switch {
	case seen.turn.Events > l.events:
		text = fmt.Sprintf("more than %d events with tokens", l.events)
	case seen.size > l.answer:
		text = fmt.Sprintf("more than %d bytes", l.answer)
	default:
		return ""
	}
	if l.maxTokens == 0 {
		return "the answer does not end: it has " + text
	}
	return fmt.Sprintf("the server ignores max_tokens: the answer has %s, but %d tokens were requested", text, l.maxTokens)
}

// impossible says why a server cannot have used as many tokens as its usage claims, or returns "".
// An answer can contain hidden reasoning, and a server that ignores max_tokens sends at least a byte per
// token.
func (l limits) impossible(prompt, output, receivedBytes int) string {
	mostPrompt, mostOutput := l.sent+promptAdded, max(l.events, l.maxTokens, receivedBytes)
	switch {
	case prompt > mostPrompt:
		return fmt.Sprintf("the usage has %d prompt tokens, but the request has %d bytes", prompt, l.sent)
	case output > mostOutput:
		return fmt.Sprintf("the usage has %d output tokens, but the answer has at most %d", output, mostOutput)
	}
	return ""
}

// Peaks records how close the turns of a process came to the limits.
type Peaks struct {
	// Wire is in bytes of an answer, Events in token-bearing events, Answer in bytes of text,
	// Added in bytes added to the history.
	Wire, Events, Answer, Added bound.Peak
}

func (p *Peaks) record(l limits, body *wire.Body, seen *measurement) {
	p.Wire.Record(body.Received(), l.wire)
	p.Events.Record(int64(seen.turn.Events), int64(l.events))
	p.Answer.Record(int64(seen.size), int64(l.answer))
}

// Cost returns the bytes of memory that a turn may need: the history, its request and the encoder's
// buffer; the answer and its gaps, which grow by doubling and are then copied; an event with the IDs of a long
// prompt, whose buffer grows by doubling; and turnOverhead.
func Cost(spec *workload.Spec, history []workload.Message) int64 {
	text := 0
	for i := range history {
		text += history[i].Size()
	}
	l := newLimits(spec.MaxOutputTokens, text)
	return turnOverhead + 3*int64(text+l.answer+8*l.events) + 2*int64(max(l.event-eventUnlimited, 0))
}
