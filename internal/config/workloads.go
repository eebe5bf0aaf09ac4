package config

import (
	"time"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// conversation is a workload and, where there is one, the endpoint that plays
// its user.
type conversation struct {
	workload.Spec
	path string
	user *target.Target
}

// workloads resolves the workloads; there is always at least one.
func (b *builder) workloads(in []fileWorkload) []conversation {
	if len(in) == 0 {
		in = []fileWorkload{defaults[fileWorkload]()}
	}
	taken := map[string]string{}
	out := make([]conversation, len(in))
	for i, w := range in {
		path := index("workloads", i)
		b.name(path, w.Name, "workload", taken)
		out[i] = b.workload(path, w)
	}
	return out
}

func (b *builder) workload(path string, w fileWorkload) conversation {
	c := conversation{path: path, Spec: workload.Spec{
		Name:            w.Name,
		PromptTokens:    w.PromptTokens,
		FollowupTokens:  w.Followups.Tokens,
		Starters:        w.Starters,
		Seed:            w.Seed,
		System:          w.System,
		MaxOutputTokens: w.MaxOutputTokens,
		Temperature:     w.Temperature,
		Followups:       w.Followups.Script,
		Check:           workload.Check{Contains: w.Check.Contains, Regexp: string(w.Check.Regexp)},
		Timeouts:        b.timeouts(path+".timeouts", w.Timeouts),
	}}
	c.TurnsMin, c.TurnsMax = bounds(b, path+".turns", w.Turns.Min, w.Turns.Max)
	thinkMin, thinkMax := bounds(b, path+".think_time", w.ThinkTime.Min, w.ThinkTime.Max)
	c.ThinkMin, c.ThinkMax = time.Duration(thinkMin), time.Duration(thinkMax)
	if u := w.Followups.User; u != nil {
		user := b.endpoint(path+".followups.user", *u)
		user.Name = w.Name + "-user"
		c.user = &user
	}
	b.replay(path, w, &c.Spec)
	return c
}
