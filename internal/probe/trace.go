package probe

import (
	"encoding/hex"
	"math/rand/v2"
	"strconv"
)

// trace puts a turn into a trace and returns its traceparent header. A
// conversation whose spans are exported is one trace, of which the deployment
// keeps its part, too; any other turn is a trace of its own, which nobody is asked
// to keep.
func (d *dialogue) trace(r *Result) (traceparent string) {
	if d.sum.TraceID == "" {
		r.TraceID = newID(16)
		return "00-" + r.TraceID + "-" + newID(8) + "-00"
	}
	r.TraceID, r.SpanID, r.ParentSpanID = d.sum.TraceID, newID(8), d.sum.SpanID
	return "00-" + r.TraceID + "-" + r.SpanID + "-01"
}

// newID returns the hex digits of n random bytes. The ids of traces need to be
// unique, not unpredictable.
func newID(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	b[0] |= 1 // an all-zero id is invalid
	return hex.EncodeToString(b)
}

// newConversationID returns a short identifier that is unique enough within
// one process's recent results.
func newConversationID() string {
	return strconv.FormatUint(rand.Uint64(), 36)
}
