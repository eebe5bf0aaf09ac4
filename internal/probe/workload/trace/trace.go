// Package trace reads recorded traffic: times, lengths, shared prefixes and, if recorded,
// texts. It detects the format from the content; docs/how-to/traces.md lists the formats. It
// keeps at most a few thousand records in memory, and a session of agents with up to 64 MiB.
package trace

import "time"

// Record is one recorded conversation: a request with its whole prompt, or a session whose
// turns add to the history.
type Record struct {
	// At is the time since the first record of the trace or window. It is 0 in a trace without
	// times.
	At time.Duration
	// Session identifies records that belong together; "" means a record of its own.
	Session string
	// Turns has at least one element.
	Turns []Turn
	// Graph says that the turns are the steps of an agent and its sub-agents. Each has its whole
	// prompt, and starts when its Needs are met.
	Graph bool

	// timed says that At is known. delta says that a later record of the same session continues
	// this one. lastTurnAt is the time of the last such record.
	timed, delta bool
	lastTurnAt   time.Duration
	// inOrder says that no later record is earlier.
	inOrder bool
}

// Turn is one request of a conversation.
type Turn struct {
	// After is the pause since the end of the previous turn. In a graph it is the time since the start
	// of the session, for a turn without Needs.
	After time.Duration
	// Prompt counts the tokens added to the history, in a graph those of the whole prompt. Output counts
	// the tokens of the answer. 0 means unknown.
	Prompt, Output int
	// Blocks identify the contents of the prompt's blocks of BlockTokens. Equal values mean
	// equal texts. The last block may be partly filled. Empty means unknown.
	Blocks      []uint64
	BlockTokens int
	// Messages are the texts, if recorded. The last one is sent as the user message.
	Messages []Message

	// The rest is 0 outside a graph. Lane identifies a row of turns, one after the other, of one Agent.
	Lane, Agent int
	Needs       []Need
	// Base and Shared say that the prompt begins with the first Shared blocks, or messages, of the
	// prompt of turn Base. Record.Prompt returns the whole.
	Base, Shared int
}

// Prompt returns the whole prompt of turn i: its blocks, or its messages.
func (r *Record) Prompt(i int) (blocks []uint64, messages []Message) {
	if !r.Graph {
		return r.Turns[i].Blocks, r.Turns[i].Messages
	}
	blocks = whole(i, func(i int) (*Turn, []uint64) { return &r.Turns[i], r.Turns[i].Blocks })
	return blocks, whole(i, func(i int) (*Turn, []Message) { return &r.Turns[i], r.Turns[i].Messages })
}

// detectWholePrompts makes a graph of a session whose turns begin with the same block: each then has its
// whole prompt, as Dynamo writes Mooncake's sessions. AIPerf writes what a turn adds.
func (r *Record) detectWholePrompts() {
	for i := range r.Turns {
		if len(r.Turns) == 1 || len(r.Turns[i].Blocks) == 0 || r.Turns[i].Blocks[0] != r.Turns[0].Blocks[0] {
			return
		}
	}
	r.Graph = true
	for i := len(r.Turns) - 1; i > 0; i-- { // each is compared with a whole prompt
		t := &r.Turns[i]
		t.Base, t.Shared = i-1, sharedPrefix(r.Turns[i-1].Blocks, t.Blocks)
		t.Blocks = t.Blocks[t.Shared:]
		t.Needs = []Need{{Step: i - 1, Delay: t.After}}
		t.After = 0
	}
	for i := range r.Turns {
		r.Turns[i].skipBases(func(i int) *Turn { return &r.Turns[i] })
	}
}

// limitPauses shortens pauses to most.
func (r *Record) limitPauses(most time.Duration) {
	for i := range r.Turns {
		t := &r.Turns[i]
		t.After = min(t.After, most)
		for k := range t.Needs {
			t.Needs[k].Delay = min(t.Needs[k].Delay, most)
		}
	}
}

type Message struct {
	Role    string `json:"role"`
	Content Text   `json:"content"`
}

const (
	// recordCost, turnCost, stepCost and needCost are the bytes of the structs themselves.
	recordCost, turnCost, stepCost, needCost = 96, 160, 96, 32
	// agentCost and treeCost are the bytes of the entries in the maps of a sessionTable.
	agentCost, treeCost = 200, 500
)

// size estimates the memory of the record in bytes.
func (r *Record) size() int {
	n := recordCost + len(r.Session)
	for i := range r.Turns {
		n += r.Turns[i].size()
	}
	return n
}

func (t *Turn) size() int {
	n := turnCost + 8*len(t.Blocks) + needCost*len(t.Needs)
	for _, m := range t.Messages {
		n += 64 + len(m.Content)
	}
	return n
}
