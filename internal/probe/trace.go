package probe

import (
	"encoding/hex"
	"math/rand/v2"
	"strconv"
)

// newTrace returns a random W3C trace id (32 hex digits) and the sampled
// traceparent header that carries it. Trace ids need to be unique, not
// unpredictable.
func newTrace() (traceID, traceparent string) {
	var b [24]byte
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	b[0] |= 1 // an all-zero id is invalid
	b[16] |= 1
	traceID = hex.EncodeToString(b[:16])
	return traceID, "00-" + traceID + "-" + hex.EncodeToString(b[16:]) + "-01"
}

// newConversationID returns a short identifier that is unique enough within
// one process's recent results.
func newConversationID() string {
	return strconv.FormatUint(rand.Uint64(), 36)
}
