// Package trace reads recorded traffic: times, lengths, shared prefixes and, if recorded,
// texts. It detects the format from the content; docs/how-to/traces.md lists the formats.
package trace

import "time"

// Record is one recorded conversation: a request with its whole prompt, or a session whose
// turns add to the history.
type Record struct {
	// At is the time since the first record of the trace or window. It is 0 in a trace without
	// times.
	At time.Duration
	// Session identifies the turns of a conversation; "" means a record of its own.
	Session string
	// Turns has at least one element.
	Turns []Turn

	// timed says that At is known. delta says that a later record of the same session continues
	// this one. lastTurnAt is the time of the last such record.
	timed, delta bool
	lastTurnAt   time.Duration
	// guessed is the unit of At if nothing but the format says it.
	guessed time.Duration
}

// Turn is one request of a conversation.
type Turn struct {
	// After is the pause since the end of the previous turn.
	After time.Duration
	// Prompt counts the tokens added to the history, Output the tokens of the answer. 0 means unknown.
	Prompt, Output int
	// Blocks identify the contents of the prompt's blocks of BlockTokens. Equal values mean
	// equal texts. The last block may be partly filled. Empty means unknown.
	Blocks      []uint64
	BlockTokens int
	// Messages are the texts, if recorded. The last one is sent as the user message.
	Messages []Message
}

type Message struct {
	Role    string `json:"role"`
	Content Text   `json:"content"`
}
