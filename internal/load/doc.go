// Package load starts conversations. A Loop starts them at the times of an arrival process
// (open) or keeps a number of them in flight (closed); the sidecar and sweeps both use it. A
// Scheduler runs the loops of the sidecar: it starts and stops them when the set of jobs
// changes, and passes every event to a sink.
//
// Data flows one way: Apply(jobs), runner, Loop, conversation, Prober, events, sink.
//
// Each goroutine has an owner that waits for it: Scheduler.Run owns one for each runner,
// runner.run owns the model discovery, and Loop.Run owns one for each slot or conversation.
package load
