package config

import (
	"fmt"
	"math"
	"strings"
	"time"

	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
)

// readTrace turns a workload into the replay of a trace.
func readTrace(r *reader, path string, c *conversation) {
	at := path + ".trace"
	if !r.Has(at) || !r.Valid(at) {
		return
	}
	r.NoEffect(path, "beside trace, which brings its own", "remove one of the two",
		"prompt_tokens", "starters", "followups", "turns", "distributions", "system_tokens", "context_tokens")
	file := c.Trace.File
	c.Trace.File = r.file(at+".file", file, file)
	c.PromptTokens, c.Starters, c.FollowupTokens, c.TurnsMin, c.TurnsMax = 0, 0, 0, 0, 0
	if !r.Valid(at) {
		return
	}
	sum, err := trace.Survey(c.Trace.File, c.Trace.Options, c.MaxOutputTokens)
	if err != nil {
		// The error is "FILE: REASON; REMEDY".
		reason, remedy := strings.TrimLeft(strings.TrimPrefix(err.Error(), c.Trace.File), ":, "), ""
		if i := strings.LastIndex(reason, "; "); i >= 0 {
			reason, remedy = reason[:i], reason[i+2:]
		}
		r.Mistake(at+".file", file, "cannot be replayed: "+reason, remedy)
		return
	}
	if sum.LeftOut.Count > 0 {
		r.notes = append(r.notes, at+".file: "+sum.LeftOut.String())
	}
	n := float64(sum.Records)
	c.tokens = workload.Tokens{Prompt: sum.Prompt / n, Cached: sum.Cached / n, Output: sum.Output / n}
}

// A user who cancels waits for a time between minPatience and maxPatience: about as long as readers
// wait for a page.
const (
	minPatience = time.Second
	maxPatience = 10 * time.Second
)

// readDistributions checks the distributions of a workload, and replaces the fixed values by their means. Checks of
// other keys use these.
func readDistributions(r *reader, path string, c *conversation) {
	for _, x := range []struct {
		key, replaced string
		dist          *workload.Dist
		fixed         *int
	}{
		{"prompt_tokens", "prompt_tokens", c.Dists.Prompt, &c.PromptTokens},
		{"followup_tokens", "followups", c.Dists.Followup, &c.FollowupTokens},
		{"output_tokens", "max_output_tokens", c.Dists.Output, &c.MaxOutputTokens},
	} {
		at := path + ".distributions." + x.key
		if !r.Has(at) {
			continue
		}
		r.NoEffect(path, "beside its distribution", "remove one of the two", x.replaced)
		if x.dist == nil || !r.Valid(at) {
			continue
		}
		if x.dist.Max > 0 && x.dist.Max < x.dist.Min {
			r.Mistake(at+".max", fmt.Sprint(x.dist.Max), fmt.Sprintf("is below min, which is %v", x.dist.Min), "swap the two")
		}
		if *x.fixed > 0 { // no limit stays no limit
			*x.fixed = max(int(math.Ceil(x.dist.EstimateMean()-1e-6)), 1)
		}
	}
	if r.Valid(path) && c.Trace.File == "" {
		checkFirstTurn(r, path, c.Spec)
	}
}

// checkFirstTurn rejects a context that the first turn already exceeds. It needs the means of distributions.
func checkFirstTurn(r *reader, path string, s workload.Spec) {
	need := s.SystemTokens + s.PromptTokens + s.MaxOutputTokens
	if s.ContextTokens > 0 && s.ContextTokens < need {
		r.Mistake(path+".context_tokens", fmt.Sprint(s.ContextTokens), fmt.Sprintf("is less than the %d tokens of the first turn", need),
			fmt.Sprintf("write %d or more", need))
	}
}
