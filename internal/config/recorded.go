package config

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
)

// trace turns a workload into the replay of a trace.
func (b *builder) trace(path string, w fileWorkload, c *conversation) {
	at := path + ".trace"
	if !b.Has(at) || !b.Valid(at) {
		return
	}
	b.NoEffect(path, "beside trace, which brings its own", "remove one of the two",
		"conversations_file", "prompt_tokens", "starters", "followups", "turns", "think_time", "distributions", "clients",
		"system_tokens", "context_tokens", "agent")
	t := w.Trace
	if t.To > 0 && t.To <= t.From {
		b.Mistake(at+".to", model.Duration(t.To).String(), "is not above from", "write a time since the begin of the trace")
	}
	c.Trace = workload.Trace{
		File:    b.traceFile(at+".file", t.File),
		Options: trace.Options{From: t.From, To: t.To, BlockTokens: t.BlockTokens, MaxPause: t.MaxPause},
	}
	c.PromptTokens, c.Starters, c.FollowupTokens, c.TurnsMin, c.TurnsMax = 0, 0, 0, 0, 0
	if !b.Valid(at) {
		return
	}
	sum, err := trace.Survey(c.Trace.File, c.Trace.Options)
	if err != nil {
		b.unreadable(at+".file", t.File, "cannot be replayed: ", err)
		return
	}
	n := float64(sum.Records)
	c.ownRate = sum.Rate()
	unknown := float64(sum.UnknownOutputs * c.MaxOutputTokens)
	c.tokens = workload.Tokens{Prompt: sum.Prompt / n, Cached: sum.Cached / n, Output: (sum.Output + unknown) / n}
	c.firstTurn = workload.Tokens{Prompt: c.tokens.Prompt}
}

// traceFile resolves the path of a trace, which may be a folder.
func (b *builder) traceFile(at, path string) string {
	if info, err := os.Stat(b.resolve(path)); err == nil && info.IsDir() {
		return b.resolve(path)
	}
	return b.file(at, path, false)
}

// unreadable reports a file. The error is "FILE: REASON; REMEDY".
func (b *builder) unreadable(at, file, why string, err error) {
	reason := strings.TrimPrefix(strings.TrimPrefix(err.Error(), b.resolve(file)), ":")
	remedy := ""
	if i := strings.LastIndex(reason, "; "); i >= 0 {
		reason, remedy = reason[:i], reason[i+2:]
	}
	b.Mistake(at, file, why+strings.TrimLeft(reason, ", "), remedy)
}

// A user who cancels waits for a time between minPatience and maxPatience: about as long as readers
// wait for a page.
const (
	minPatience = time.Second
	maxPatience = 10 * time.Second
)

// distributions resolves the distributions of a workload. Checks of other keys use their means.
func (b *builder) distributions(path string, w fileWorkload, c *conversation) {
	for key, drawn := range map[string]string{"prompt_tokens": "prompt_tokens", "followups": "followup_tokens", "max_output_tokens": "output_tokens", "turns": "turns", "think_time": "think_seconds"} {
		if b.Has(path + ".distributions." + drawn) {
			b.NoEffect(path, "beside its distribution", "remove one of the two", key)
		}
	}
	c.Dists = b.dists(path+".distributions", w.Distributions)
	b.agent(path, w.Agent, &c.Spec)
	for i, k := range w.Clients {
		at := yamlform.Index(path+".clients", i)
		if k.Process != workload.Gamma {
			b.NoEffect(at, "with process "+string(k.Process), "remove it", "burstiness")
		}
		if b.Has(path + ".followups.script") {
			b.NoEffect(at+".distributions", "beside followups, which are not generated", "remove one of the two", "followup_tokens")
		}
		c.Clients = append(c.Clients, workload.Client{
			Share: k.Share, Process: k.Process, Burstiness: k.Burstiness, Dists: b.dists(at+".distributions", k.Distributions),
		})
	}
	if len(c.Clients) > 0 {
		b.NoEffect(path, "beside clients, which have their own", "move it to the clients", "distributions")
		b.NoEffect(path, "beside clients, which have their own lengths", "remove one of the two", "agent")
		c.ownRate = 1
	}
	if b.Valid(path) && c.ConversationsFile == "" && c.Trace.File == "" && b.affords(path+".clients", 1000*len(c.Clients)) {
		useMeans(&c.Spec)
		b.firstTurnFits(path, c.Spec)
	}
	if w.Cancel > 0 {
		c.Cancel = workload.Cancel{Share: float64(w.Cancel), Min: minPatience, Max: maxPatience}
	}
}

// useMeans replaces fixed values by the means of their distributions.
func useMeans(s *workload.Spec) {
	classes := s.Clients
	if len(classes) == 0 {
		classes = []workload.Client{{Share: 1, Dists: s.Dists}}
	}
	mean := func(dist func(workload.Dists) *workload.Dist, fixed int) int {
		sum, weight := 0.0, 0.0
		for _, c := range classes {
			value := float64(fixed)
			if d := dist(c.Dists); d != nil {
				value = d.EstimateMean()
			}
			sum, weight = sum+c.Share*value, weight+c.Share
		}
		return max(int(math.Ceil(sum/weight-1e-6)), 1)
	}
	s.PromptTokens = mean(func(d workload.Dists) *workload.Dist { return d.Prompt }, s.PromptTokens)
	s.FollowupTokens = mean(func(d workload.Dists) *workload.Dist { return d.Followup }, s.FollowupTokens)
	if s.MaxOutputTokens > 0 {
		s.MaxOutputTokens = mean(func(d workload.Dists) *workload.Dist { return d.Output }, s.MaxOutputTokens)
	}
	s.TurnsMin = mean(func(d workload.Dists) *workload.Dist { return d.Turns }, s.TurnsMin)
	s.TurnsMax = max(mean(func(d workload.Dists) *workload.Dist { return d.Turns }, s.TurnsMax), s.TurnsMin)
}

func (b *builder) dists(path string, f fileDists) workload.Dists {
	return workload.Dists{
		Prompt: b.dist(path+".prompt_tokens", f.Prompt), Output: b.dist(path+".output_tokens", f.Output),
		Followup: b.dist(path+".followup_tokens", f.Followup),
		Turns:    b.dist(path+".turns", f.Turns), Think: b.dist(path+".think_seconds", f.Think),
	}
}

// dist checks that a distribution has the keys of its shape and no others.
func (b *builder) dist(path string, d workload.Dist) *workload.Dist {
	if !b.Has(path) || !b.Valid(path) {
		return nil
	}
	needs := map[workload.Shape][]string{
		workload.Fixed: {"mean"}, workload.Normal: {"mean", "sd"}, workload.LogNormal: {"mean", "sd"}, workload.GammaShape: {"mean", "sd"},
		workload.Pareto: {"alpha", "min"}, workload.Empirical: {"file"},
	}[d.Shape]
	for _, key := range []string{"mean", "sd", "alpha", "file", "min"} {
		at, needed := path+"."+key, slices.Contains(needs, key)
		switch {
		case needed && !b.Has(at):
			b.Mistake(at, "", "is missing, which shape "+string(d.Shape)+" needs", "write it")
		case needed && key == "min" && d.Min <= 0:
			b.Mistake(at, fmt.Sprint(d.Min), "is not above 0, where a Pareto distribution begins", "write the smallest number")
		case !needed && key != "min":
			b.NoEffect(path, "with shape "+string(d.Shape), "remove it", key)
		}
	}
	if d.Max > 0 && d.Max < d.Min {
		b.Mistake(path+".max", fmt.Sprint(d.Max), fmt.Sprintf("is below min, which is %v", d.Min), "swap the two")
	}
	if d.Shape == workload.Empirical && b.Valid(path) {
		at := path + ".file"
		var err error
		if d.Bins, err = workload.ReadHistogram(b.file(at, d.File, false)); err != nil && b.Valid(at) {
			b.unreadable(at, d.File, "is no histogram: line ", err)
		}
	}
	return &d
}
