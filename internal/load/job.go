// Package load reconciles the wanted jobs with the running ones, runs
// their loops, and hands every start and every result to a Sink.
package load

import (
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// Job is one workload sent continuously to one target. It is a plain value:
// jobs that compare deeply equal are the same job, and a reload leaves them
// running.
type Job struct {
	Target   target.Target
	Workload workload.Spec
	Traffic  workload.Traffic
	// User is the endpoint that writes the follow-up messages; nil for script
	// or generated ones.
	User *target.Target
}

// Skip reasons, the values of the reason label of skipped conversations.
const (
	// SkipMaxConcurrency: Traffic.MaxConcurrency conversations were in flight.
	// SkipBudget: Traffic.TokensPerMinute was used up.
	// SkipLate: the prober itself was overdue by more than maxLate.
	SkipMaxConcurrency = "max_concurrency"
	SkipBudget         = "budget"
	SkipLate           = "late"
)

// Sink receives what the jobs produce. Its methods are called from many
// goroutines and must not block.
type Sink interface {
	probe.Sink
	ConversationStarted(probe.ConversationStart)
	ConversationEnded(probe.Conversation)
	ConversationSkipped(probe.Skip)
}
