package cluster

import "time"

// Request is one chat turn.
type Request struct {
	// ID is chosen by the caller and unique among the requests in flight.
	ID uint64
	// Prompt and Output are numbers of tokens, at least 1 each.
	Prompt, Output int
	// Chain holds the running hash of each full block of prompt and output, as far as it is known.
	// Equal entries mean equal texts up to the end of that block. Blocks without an entry are not
	// cached. Chain must not change while the request is in flight.
	Chain []uint64
	// Rank orders requests that start at the same time, lowest first, independent of the order of
	// submission. Requests of equal rank start in the order of submission.
	Rank uint64
}

// Kind is the kind of an Event.
type Kind uint8

// A request ends with exactly one event that is not Tokens.
const (
	// Tokens brings new tokens of the answer.
	Tokens Kind = iota
	// Done ends a complete answer.
	Done
	// Unavailable means that no worker was left.
	Unavailable
	// Expired means that the request exceeded Frontend.Deadline.
	Expired
	// Canceled means that Cancel ended the request.
	Canceled
	// Failed means that the worker was lost.
	Failed
)

// String implements fmt.Stringer.
func (k Kind) String() string {
	return [...]string{"tokens", "done", "unavailable", "expired", "canceled", "failed"}[k]
}

// Event is a step in the life of a request, as its client sees it.
type Event struct {
	// At is the time of arrival at the client.
	At     time.Duration
	ID     uint64
	Kind   Kind
	Tokens int
	// Cached is the number of prompt tokens found in the prefix cache.
	Cached int
	// Worker is the number of the worker, -1 if the request was not routed.
	Worker int
	// AtWorker is the time from the routing of the request until the event happened at the worker.
	// It excludes the delays of frontend and network.
	AtWorker time.Duration
}

// sequence is a request in flight.
type sequence struct {
	Request
	worker *worker // nil until the request is routed
	routed time.Duration
	blocks []int32 // KV blocks held, in order
	// computed is the number of tokens whose KV is in blocks. hashed is the number of blocks that
	// pool.store has looked at.
	computed, hashed int
	generated        int
	// firstStep is the first step that the sequence may take part in.
	firstStep uint64
	// cached is the prefix hit at the first admission, -1 before it.
	cached int
	// pendingPrefill is the part of the prompt that the router counts as load until the first token.
	pendingPrefill int
	leaving        bool // to be removed from its worker
	ended          bool // the last event was delivered
}

// known returns the number of tokens whose value is known.
func (s *sequence) known() int { return s.Prompt + s.generated }
