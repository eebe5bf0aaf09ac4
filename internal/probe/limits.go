package probe

import (
	"errors"
	"fmt"

	"synthetic/internal/bound"
	"synthetic/internal/probe/wire"
	"synthetic/internal/probe/workload"
)

// What one answer may bring follows from what was asked for. The amounts are
// above what any server sends that heeds max_tokens; those for answers without a
// limit, and at most for all, are fixed.
const (
	// A token's event has 200 to 400 bytes, with the logprobs of 20 alternatives
	// some 3,000; headers, keep-alives and a prompt that is echoed, as ids or
	// with its logprobs, come beside that.
	wireBase, wirePerToken, wirePerByteSent, wireMost = 64 << 10, 4 << 10, 2, 16 << 20
	// One event may hold a whole answer, as behind a proxy that gathers it.
	eventBase, eventPerToken, eventMost = 128 << 10, 256, 1 << 20
	// A server streams a token in one event or less. Four times that leaves room
	// for those that split characters.
	eventsBase, eventsPerToken, eventsMost = 64, 4, 1 << 16
	// A token has 4 bytes, the longest (of spaces) some 100.
	answerBase, answerPerToken, answerMost = 1 << 10, 64, 1 << 20

	// maxAdded bounds what the answers and the user endpoint add to the history
	// of a conversation, in bytes, beyond which no further turn is taken: it is
	// kept, and sent again with each. It is some 100,000 tokens.
	maxAdded = 512 << 10
	// maxUserText bounds a message of the user endpoint: twice what userTokens
	// usually are.
	maxUserText = 1 << 10
	// maxUserReply bounds its answer, which comes in one piece: the message, and
	// what servers put beside it.
	maxUserReply = 128 << 10
	// streamCost is what a turn costs beside its texts: a connection, two
	// goroutines, their buffers.
	streamCost = 48 << 10
)

// amounts bound one answer.
type amounts struct {
	asked int // tokens, 0 for no limit
	// wire and event are bytes, answer those of content and reasoning.
	wire                  int64
	event, events, answer int
}

// amountsOf returns the bounds of the answer to a request of sent bytes that
// asked for so many tokens.
func amountsOf(asked, sent int) amounts {
	if asked <= 0 {
		return amounts{wire: wireMost, event: eventMost, events: eventsMost, answer: answerMost}
	}
	tokens := min(asked, answerMost) // or a nonsensical number would overflow
	return amounts{
		asked:  asked,
		wire:   int64(min(wireBase+wirePerToken*tokens+wirePerByteSent*sent, wireMost)),
		event:  min(eventBase+eventPerToken*tokens, eventMost),
		events: min(eventsBase+eventsPerToken*tokens, eventsMost),
		answer: min(answerBase+answerPerToken*tokens, answerMost),
	}
}

// excess says how far an answer is beyond its bounds, "" if it is not.
func (m amounts) excess(seen *measurement) string {
	var text string
	switch {
	case seen.events > m.events:
		text = fmt.Sprintf("more than %d events with tokens", m.events)
	case seen.size > m.answer:
		text = fmt.Sprintf("an answer longer than %d bytes", m.answer)
	default:
		return ""
	}
	if m.asked == 0 {
		return "the answer does not end: " + text
	}
	return fmt.Sprintf("the server ignores max_tokens: %s where %d tokens were asked for", text, m.asked)
}

// unfit says why an answer is not read on, if that is why err came.
func unfit(err error) (reason string, ok bool) {
	var e *wire.UnfitError
	if !errors.As(err, &e) {
		return "", false
	}
	return e.Reason, true
}

// Peaks remember how near the turns of a process came to their bounds. A nil
// *Peaks remembers nothing.
type Peaks struct {
	// Wire are the bytes of an answer, Events those with tokens, Answer the bytes
	// of its text; Added are the bytes that the history of a turn had grown by.
	Wire, Events, Answer, Added bound.Peak
}

// see takes in a turn.
func (p *Peaks) see(m amounts, body *wire.Body, seen *measurement) {
	if p == nil {
		return
	}
	p.Wire.Record(body.Received(), m.wire)
	p.Events.Record(int64(seen.events), int64(m.events))
	p.Answer.Record(int64(seen.size), int64(m.answer))
}

// added takes in by how much a history has grown that is sent.
func (p *Peaks) added(bytes int) {
	if p != nil {
		p.Added.Record(int64(bytes), maxAdded)
	}
}

// Cost returns the memory that a turn with a history may need, in bytes: the
// history, the request made of it and what encodes that; the answer, which grows
// by doubling and is then copied; its gaps; and the stream.
func Cost(spec workload.Spec, history []workload.Message) int64 {
	text := 0
	for i := range history {
		text += history[i].Size()
	}
	m := amountsOf(spec.MaxOutputTokens, 0)
	return streamCost + 3*int64(text) + 3*int64(m.answer) + 8*int64(m.events)
}
