// Package load reconciles the wanted jobs with the running ones, runs
// their loops, and hands every event to a sink.
package load

// Skip reasons, the values of the reason label of skipped conversations.
const (
	// SkipMaxConcurrency: Traffic.MaxConcurrency conversations were in flight.
	// SkipBudget: Traffic.TokensPerMinute was used up.
	// SkipLate: the prober itself was overdue by more than maxLate.
	SkipMaxConcurrency = "max_concurrency"
	SkipBudget         = "budget"
	SkipLate           = "late"
)
