package dialect

import (
	"io"

	"synthetic/internal/probe/wire"
)

// Source is a response body that knows when its bytes arrived.
type Source interface {
	io.Reader
	// Arrival describes the bytes that the last Read returned.
	Arrival() wire.Arrival
}

// Kind is the meaning of an event for timing.
type Kind uint8

const (
	// Other has no meaning for timing, such as a role or an empty delta.
	Other Kind = iota
	// Token has a non-empty content, reasoning, refusal or tool-call delta.
	Token
	// Done is the end of the answer: "[DONE]", or its equivalent in the API.
	Done
	// Error is an error object inside the stream.
	Error
	// Malformed is data that is not a JSON object, or a body that is no event stream.
	Malformed
)

// Decoder decodes the events of one stream. It can use earlier events for later ones.
type Decoder interface {
	// Decode fills ev from the payload of an event. It can overwrite data, and ev can refer to it.
	// isError says that the event was named "error". If data is not one JSON object, Decode returns
	// false and leaves ev unchanged.
	Decode(ev *Event, data []byte, isError bool) bool
}

// Delta has what an event adds to the answer.
type Delta struct {
	// Content, Reasoning and Refusal are the decoded deltas of the answer, or nil. ReasoningField is
	// the server's name of the reasoning.
	Content, Reasoning, Refusal []byte
	ReasoningField              string
	// ToolCalls are the non-empty tool-call deltas, or nil.
	ToolCalls []ToolCall
}

// Event is one event of a streamed answer. Its byte slices are valid until the next call of Next.
type Event struct {
	wire.Arrival
	Kind Kind
	// Coalesced says that this event has the arrival of the previous one, because one read completed
	// both.
	Coalesced bool
	Delta
	// Model is the name of the answering model, in the first event that has one.
	Model string
	// Worker identifies the worker that decoded the event.
	Worker string
	// Thinks says that the server reasoned, perhaps without streaming the text.
	Thinks bool
	// OtherChoice says that the event has text of a choice that is not the answer.
	OtherChoice bool
	// FinishReason is "", Stop, Length, ToolCalls, Filtered, Aborted or the server's name of another
	// reason. If it is Aborted, Message has the server's name of it.
	FinishReason string
	// Usage is valid if HasUsage.
	Usage    Usage
	HasUsage bool
	// Message is the error message of an Error, the start of a Malformed payload, or what another event says
	// beside its fields. It has at most 512 bytes.
	Message string
}
