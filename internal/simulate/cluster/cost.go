package cluster

import (
	"math"
	"slices"
	"time"
)

// load is the work of one step.
type load struct {
	decodes int     // sequences that decode
	decoded int     // tokens of their batch, drafts included
	context int     // tokens they attend to
	prefill int     // prompt tokens
	pairs   float64 // of a prompt token and a token before it
}

// duration is what a step with that load takes; prefill and decode are
// slow-down factors.
func (e *Engine) duration(l load, prefill, decode float64) time.Duration {
	c := &e.Cost
	batch, captured := e.captured(l.decoded)
	t := c.Base + c.Token*float64(batch) + c.KVToken*float64(l.context)
	if e.Speculation.Draft > 0 && l.decodes > 0 {
		t += c.Draft
	}
	t *= decode
	t += (c.Prefill*float64(l.prefill) + c.Pair*l.pairs) * prefill
	if !captured || l.prefill > 0 {
		t = max(t, c.Eager*decode)
	}
	return max(1, time.Duration(math.Round(t*float64(time.Second))))
}

// captured is the batch size that a number of decoded tokens runs as, and
// whether its graph was captured.
func (e *Engine) captured(decoded int) (size int, ok bool) {
	i, exact := slices.BinarySearch(e.Graphs, decoded)
	if e.Padding && decoded > 0 && i < len(e.Graphs) {
		return e.Graphs[i], true
	}
	return decoded, exact || decoded == 0 || len(e.Graphs) == 0
}
