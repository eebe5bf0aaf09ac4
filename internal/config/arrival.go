package config

import (
	"cmp"
	"fmt"

	"synthetic/internal/probe/workload"
)

// settings resolves how often conversations start and what limits them.
func (b *builder) settings(path string, t fileTraffic) workload.Traffic {
	at := path + ".arrival"
	a := t.Arrival
	out := workload.Traffic{
		Arrival:         workload.Arrival{Process: workload.Process(a.Process)},
		MaxConcurrency:  t.MaxConcurrency,
		TokensPerMinute: t.TokensPerMinute,
	}
	if !b.fine(at + ".process") {
		return out
	}
	if out.Process == workload.Closed {
		out.Concurrency, out.MaxConcurrency = a.Concurrency, 0
		b.useless(at, a.Process, "rate", "burstiness")
		if b.has(path+".max_concurrency") && b.fine(path+".max_concurrency") {
			b.mistake(path+".max_concurrency", "", "has no effect with process closed, which keeps exactly its concurrency in flight", "remove it")
		}
		if !b.has(at+".concurrency") && b.fine(at+".concurrency") {
			b.mistake(at+".concurrency", "", "is missing", "write how many conversations to keep in flight, for example concurrency: 4")
		}
		return out
	}
	out.Rate = a.Rate
	b.useless(at, a.Process, "concurrency")
	if out.Process == workload.Gamma {
		out.Burstiness = a.Burstiness
	} else {
		b.useless(at, a.Process, "burstiness")
	}
	return out
}

// useless reports keys that a process does not use.
func (b *builder) useless(path, process string, keys ...string) {
	remedies := map[string]string{
		"burstiness":  "remove it, or write process: gamma",
		"concurrency": "remove it, or write process: closed; max_concurrency, beside arrival, limits what is in flight",
	}
	for _, key := range keys {
		if b.has(path + "." + key) {
			b.mistake(path+"."+key, "", "has no effect with process "+process, cmp.Or(remedies[key], "remove it"))
		}
	}
}

// budget refuses a token budget that no conversation fits in: every start
// would be skipped, in silence but for a counter. What the conversations of a
// file need is known only when they run.
func (b *builder) budget(path string, t workload.Traffic, c conversation) {
	at := path + ".tokens_per_minute"
	if t.TokensPerMinute == 0 || c.ConversationsFile != "" || !b.fine(at, c.path) {
		return
	}
	if need := leastTokens(c.Spec); t.TokensPerMinute < need {
		b.mistake(at, fmt.Sprint(t.TokensPerMinute),
			fmt.Sprintf("is less than the %d tokens of one conversation of workload %q", need, c.Name),
			fmt.Sprintf("write %d or more, or make the conversations shorter", need))
	}
}

// leastTokens is what the shortest conversation needs when its answers are as
// long as they may be: each turn sends the whole history again.
func leastTokens(s workload.Spec) int {
	total, history := 0, 0
	for turn := range s.TurnsMin {
		if turn == 0 {
			history = s.PromptTokens
		} else {
			history += s.FollowupTokens
		}
		total += history + s.MaxOutputTokens
		history += s.MaxOutputTokens
	}
	return total
}
