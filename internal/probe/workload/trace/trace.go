// Package trace reads recorded traffic: lengths, shared prefixes and, if recorded,
// texts. It detects the format from the content; docs/how-to/traces.md lists the formats.
package trace

// Record is one recorded conversation: a request with its whole prompt, or the turns of a conversation, which
// add to the history.
type Record struct {
	// Turns has at least one element.
	Turns []Turn
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
