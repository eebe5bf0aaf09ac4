// Package trace reads recorded traffic: times, lengths, shared prefixes and, if recorded,
// texts. It detects the format from the content; docs/how-to/traces.md lists the formats.
package trace

import "time"

// Record is one recorded conversation: a request with its whole prompt, or the turns of a conversation, which
// add to the history.
type Record struct {
	// At is the time since the first record of the trace or window. It is 0 in a trace without
	// times.
	At time.Duration
	// Turns has at least one element.
	Turns []Turn

	// timed says that At is known.
	timed bool
	// guessed is the unit of At if nothing but the format says it.
	guessed time.Duration
}

// Turn is one request of a conversation.
type Turn struct {
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
