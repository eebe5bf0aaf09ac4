package main

import (
	"fmt"

	"synthetic/internal/config"
	"synthetic/internal/fleet"
	"synthetic/internal/probe/workload"
)

// spending describes the tokens that each job, and all jobs together, are expected to use in a day.
func spending(cfg *config.Config) []string {
	var out []string
	for _, j := range cfg.Jobs {
		line := fmt.Sprintf("workload %s to target %s: %s", j.Workload.Name, j.Target.Name, spent(j))
		if n := cfg.UpTo(j.Target.Name); n > 1 {
			line += fmt.Sprintf("; for each of up to %d targets", n)
		}
		out = append(out, line)
	}
	day, known := cfg.Footprint()
	if day.Sum() == 0 || len(cfg.Jobs) == 1 {
		return out
	}
	all := "in all: " + perDay(day)
	if !known {
		all += ", without the closed loops"
	}
	return append(out, all)
}

// spent describes the expected tokens of one job.
func spent(j fleet.Job) string {
	f := j.Footprint
	if f.Day.Sum() == 0 {
		return fmt.Sprintf("%s a conversation; the number a day depends on the speed of the deployment", f.Conversation)
	}
	text := perDay(f.Day)
	if f.Bursts.Sum() > 0 {
		text += fmt.Sprintf("; bursts at the first sign of a fault add at most %s", f.Bursts)
	}
	if f.LimitedByBudget {
		text += "; the token budget limits it to this"
	}
	return text
}

func perDay(t workload.Tokens) string {
	return fmt.Sprintf("%s a day, at most %s of the prompts cached", t, workload.Amount(t.Cached))
}
