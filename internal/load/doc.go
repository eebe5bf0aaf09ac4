// Package load starts conversations and keeps them going. Loop is its engine:
// open or closed, for the sidecar and for the levels of a sweep alike.
// Scheduler is the sidecar's owner of loops: it reconciles the wanted jobs with
// the running ones and hands every event to a sink.
//
// A Loop may be one Part of a load that several processes carry together.
//
// Data flows one way:
//
//	Apply(jobs) → runner → Loop → conversation → Prober → events → sink
//
// and every goroutine has one owner, who waits for it:
//
//	Scheduler.Run   a goroutine for each runner
//	runner.run      the search for the model's name; the Loop runs in its own
//	Loop.Run        a goroutine for each slot, or for each open conversation
package load
