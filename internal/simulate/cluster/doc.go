// Package cluster is a model of an LLM deployment with continuous batching: a
// frontend that routes requests to workers, each of which runs steps over a
// batch of sequences, with a paged and prefix-cached KV memory.
//
// It is a pure discrete-event simulation: no goroutine, no wall clock, one
// seeded source of draws. Time is a [time.Duration] since the start and never
// goes back; the same configuration, seed and calls give the same events to
// the nanosecond. A caller drives it in virtual time, as fast as it computes:
//
//	for at, ok := c.Next(); ok; at, ok = c.Next() {
//		c.Advance(at, handle)
//	}
//
// or in real time, by calling Advance whenever the clock reaches Next. The
// model and where its parameters come from are described in docs/background/simulation.md.
package cluster
