// Package trace reads traffic that was recorded: when requests came, how long
// they were, what they share, and what they said where that is known. It tells
// the formats apart by what is in them (docs/how-to/traces.md has the list), and
// holds no more than a few thousand records of a file of any size.
package trace

import "time"

// Record is one recorded conversation: a request with its whole prompt, or a
// session of turns each of which adds to what was said before.
type Record struct {
	// At is when it came, since the first record of the trace or of its window; 0
	// in a trace without times.
	At time.Duration
	// Session names the records that belong together, "" for one of its own.
	Session string
	// Turns are at least one.
	Turns []Turn

	// timed says that At is known, delta that a record of the same session that
	// follows goes on with this one; latest is the time of the last that did, and
	// number the place in the file.
	timed, delta bool
	latest       time.Duration
	number       uint64
}

// Turn is one request of a conversation.
type Turn struct {
	// After is the pause since the end of the turn before it.
	After time.Duration
	// Prompt are the tokens that it adds to what was said before, Output those of
	// the answer; 0 is unknown.
	Prompt, Output int
	// Blocks name what the prompt's blocks of BlockTokens hold, the last of which
	// may be partly filled: equal names are equal texts. Empty is unknown.
	Blocks      []uint64
	BlockTokens int
	// Messages are the texts, where they are known; the last one is sent as the
	// user's.
	Messages []Message
}

// Message is a text of a history.
type Message struct {
	Role    string `json:"role"`
	Content Text   `json:"content"`
}

const (
	// recordCost and turnCost are what keeping them takes beside their lists and
	// texts, in bytes.
	recordCost, turnCost = 96, 96
)

// size is about how many bytes the record takes.
func (r *Record) size() int {
	n := recordCost + len(r.Session)
	for i := range r.Turns {
		n += turnCost + 8*len(r.Turns[i].Blocks)
		for _, m := range r.Turns[i].Messages {
			n += 64 + len(m.Content)
		}
	}
	return n
}
