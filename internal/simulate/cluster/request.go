package cluster

import "time"

// Request is one chat turn.
type Request struct {
	// ID is the caller's, unique among the requests in flight.
	ID uint64
	// Prompt and Output are tokens; both at least 1.
	Prompt, Output int
	// Chain has the running hash of each full block of prompt and output, as
	// many as are known: equal entries mean equal texts up to the end of that
	// block. Blocks without an entry are not cached. It must not change while
	// the request is in flight.
	Chain []uint64
	// Rank orders requests that start at the same time, the lowest first,
	// whichever was submitted first; equal ranks in the order of submission.
	Rank uint64
}

// Kind says what an Event tells.
type Kind uint8

// A request ends with exactly one event that is not Tokens.
const (
	// Tokens are new tokens of the answer.
	Tokens Kind = iota
	// Done is the end of a whole answer.
	Done
	// Refused means that too many requests wait (Frontend.MaxWaiting).
	Refused
	// Unavailable means that there is no worker.
	Unavailable
	// Expired means that the request was over Frontend.Deadline.
	Expired
	// Canceled means that the client gave up: see Cluster.Cancel.
	Canceled
	// Failed means that the worker was lost.
	Failed
)

// String implements fmt.Stringer.
func (k Kind) String() string {
	return [...]string{"tokens", "done", "refused", "unavailable", "expired", "canceled", "failed"}[k]
}

// Event is what a client sees of a request.
type Event struct {
	// At is when it reaches the client.
	At   time.Duration
	ID   uint64
	Kind Kind
	// Tokens are the tokens that this event brings.
	Tokens int
	// Cached are the prompt tokens that were found in the prefix cache.
	Cached int
	// Worker is the worker's number, -1 before the request was routed.
	Worker int
	// AtWorker is how long after its routing the worker had what the event
	// tells: what frontend and network take lies before and after.
	AtWorker time.Duration
}

// sequence is a request in flight.
type sequence struct {
	Request
	worker *worker // nil before it is routed
	routed time.Duration
	blocks []int32 // KV blocks held, in order
	// computed tokens have their KV in blocks; hashed blocks are in the cache's
	// index or passed over.
	computed, hashed int
	// out tokens were generated.
	out int
	// joins is the first step that the sequence may take part in.
	joins uint64
	// cached is the prefix hit at the first admission, -1 before.
	cached int
	// due tokens to prefill are counted by the router.
	due     int
	leaving bool // it is to leave its worker
	closed  bool // its last event was delivered
}

// known is the number of tokens whose value is known.
func (s *sequence) known() int { return s.Prompt + s.out }
