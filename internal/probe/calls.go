package probe

import (
	"cmp"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/workload"
)

// maxCalls bounds the tool calls of one answer.
const maxCalls = 128

// calls are the tool calls of an answer while their pieces come.
type calls struct {
	all  []call
	size int // bytes of their texts
}

// call is one tool call so far.
type call struct {
	index     int // as the server counts them
	id, name  string
	arguments []byte
}

// add joins a piece to the last of those before it that have its index, unless it
// has an id of its own: some servers count no calls.
func (c *calls) add(piece *stream.ToolCall) {
	at := len(c.all) - 1
	for at >= 0 && c.all[at].index != piece.Index {
		at--
	}
	if at < 0 || len(piece.ID) > 0 && c.all[at].id != "" && c.all[at].id != string(piece.ID) {
		if at = len(c.all); at == maxCalls {
			return
		}
		c.all = append(c.all, call{index: piece.Index})
	}
	one := &c.all[at]
	one.id = cmp.Or(one.id, string(piece.ID))
	one.name = cmp.Or(one.name, string(piece.Name))
	one.arguments = append(one.arguments, piece.Arguments...)
	c.size += len(piece.ID) + len(piece.Name) + len(piece.Arguments)
}

// whole returns the calls, put together.
func (c *calls) whole() []workload.ToolCall {
	var out []workload.ToolCall
	for _, one := range c.all {
		out = append(out, workload.ToolCall{ID: one.id, Name: one.name, Arguments: string(one.arguments)})
	}
	return out
}
