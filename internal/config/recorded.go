package config

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
)

// readTrace turns a workload into the replay of a trace.
func readTrace(r *reader, path string, w fileWorkload, c *conversation) {
	at := path + ".trace"
	if !r.Has(at) || !r.Valid(at) {
		return
	}
	r.NoEffect(path, "beside trace, which brings its own", "remove one of the two",
		"conversations_file", "prompt_tokens", "starters", "followups", "turns", "think_time", "distributions",
		"system_tokens", "context_tokens")
	t := w.Trace
	if t.To > 0 && t.To <= t.From {
		r.Mistake(at+".to", model.Duration(t.To).String(), "is not above from", "write a time since the begin of the trace")
	}
	c.Trace = t
	c.Trace.File = r.file(at+".file", t.File, false)
	c.PromptTokens, c.Starters, c.FollowupTokens, c.TurnsMin, c.TurnsMax = 0, 0, 0, 0, 0
	if !r.Valid(at) {
		return
	}
	sum, err := trace.Survey(c.Trace.File, c.Trace.Options)
	if err != nil {
		// The error is "FILE: REASON; REMEDY".
		reason, remedy := strings.TrimLeft(strings.TrimPrefix(err.Error(), c.Trace.File), ":, "), ""
		if i := strings.LastIndex(reason, "; "); i >= 0 {
			reason, remedy = reason[:i], reason[i+2:]
		}
		r.Mistake(at+".file", t.File, "cannot be replayed: "+reason, remedy)
		return
	}
	noteLeftOut(r, at+".file", sum.LeftOut)
	n := float64(sum.Records)
	unknown := float64(sum.UnknownOutputs * c.MaxOutputTokens)
	c.tokens = workload.Tokens{Prompt: sum.Prompt / n, Cached: sum.Cached / n, Output: (sum.Output + unknown) / n}
}

// noteLeftOut notes the records of a file that cannot be used.
func noteLeftOut(r *reader, at string, l trace.LeftOut) {
	if l.Count > 0 {
		r.notes = append(r.notes, at+": "+l.String())
	}
}

// A user who cancels waits for a time between minPatience and maxPatience: about as long as readers
// wait for a page.
const (
	minPatience = time.Second
	maxPatience = 10 * time.Second
)

// readDistributions resolves the distributions of a workload. Checks of other keys use their means.
func readDistributions(r *reader, path string, w fileWorkload, c *conversation) {
	for key, drawn := range map[string]string{"prompt_tokens": "prompt_tokens", "followups": "followup_tokens", "max_output_tokens": "output_tokens"} {
		if r.Has(path + ".distributions." + drawn) {
			r.NoEffect(path, "beside its distribution", "remove one of the two", key)
		}
	}
	at := path + ".distributions"
	c.Dists = workload.Dists{
		Prompt: readDist(r, at+".prompt_tokens", w.Distributions.Prompt), Output: readDist(r, at+".output_tokens", w.Distributions.Output),
		Followup: readDist(r, at+".followup_tokens", w.Distributions.Followup),
	}
	if r.Valid(path) && c.ConversationsFile == "" && c.Trace.File == "" {
		useMeans(&c.Spec)
		checkFirstTurn(r, path, c.Spec)
	}
	if w.Cancel > 0 {
		c.Cancel = workload.Cancel{Share: float64(w.Cancel), Min: minPatience, Max: maxPatience}
	}
}

// useMeans replaces fixed values by the means of their distributions.
func useMeans(s *workload.Spec) {
	for _, x := range []struct {
		dist  *workload.Dist
		fixed *int
	}{{s.Prompt, &s.PromptTokens}, {s.Followup, &s.FollowupTokens}, {s.Output, &s.MaxOutputTokens}} {
		if x.dist != nil && !(x.dist == s.Output && *x.fixed == 0) { // no limit stays no limit
			*x.fixed = max(int(math.Ceil(x.dist.EstimateMean()-1e-6)), 1)
		}
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

func readDist(r *reader, path string, d workload.Dist) *workload.Dist {
	if !r.Has(path) || !r.Valid(path) {
		return nil
	}
	if d.Max > 0 && d.Max < d.Min {
		r.Mistake(path+".max", fmt.Sprint(d.Max), fmt.Sprintf("is below min, which is %v", d.Min), "swap the two")
	}
	return &d
}
