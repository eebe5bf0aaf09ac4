package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
)

// fileTrace is recorded traffic.
type fileTrace struct {
	File        string        `yaml:"file" required:"true" examples:"trace.jsonl"`
	From        time.Duration `yaml:"from" default:"0s"`
	To          time.Duration `yaml:"to" examples:"40m"`
	BlockTokens int           `yaml:"block_tokens" min:"1" max:"65536" examples:"512"`
}

// fileDists are distributions in place of fixed or uniform numbers.
type fileDists struct {
	Prompt workload.Dist `yaml:"prompt_tokens" examples:"{shape: lognormal, mean: 800, sd: 600, max: 8000}"`
	Output workload.Dist `yaml:"output_tokens" examples:"{shape: gamma, mean: 200, sd: 150}"`
	Turns  workload.Dist `yaml:"turns" examples:"{shape: fixed, mean: 1}"`
	Think  workload.Dist `yaml:"think_seconds" examples:"{shape: pareto, alpha: 1.5, min: 2, max: 120}"`
}

// fileClient is a class of conversations of a mixture.
type fileClient struct {
	Share         float64          `yaml:"share" default:"1" above:"0" max:"1000000"`
	Process       workload.Process `yaml:"process" default:"poisson" enum:"poisson,constant,gamma"`
	Burstiness    float64          `yaml:"burstiness" default:"1" above:"0" max:"1000"`
	Distributions fileDists        `yaml:"distributions" required:"true" examples:"{prompt_tokens: {shape: fixed, mean: 4000}}"`
}

// A user who cancels waits for a time between leastPatience and mostPatience: about as long as readers
// wait for a page.
const (
	leastPatience = time.Second
	mostPatience  = 10 * time.Second
)

// recorded turns the workload at path into a replay of a trace, and returns how many
// conversations a second that has.
func (b *builder) recorded(path string, w fileWorkload, c *conversation) {
	at := path + ".trace"
	if !b.Has(at) || !b.Valid(at) {
		return
	}
	b.NoEffect(path, "beside trace, which brings its own", "remove one of the two",
		"conversations_file", "prompt_tokens", "starters", "followups", "turns", "think_time", "distributions", "clients")
	t := w.Trace
	if t.To > 0 && t.To <= t.From {
		b.Mistake(at+".to", model.Duration(t.To).String(), "is not above from", "write when the window ends, since the trace's begin")
	}
	c.Trace = workload.Trace{
		File:    b.file(at+".file", t.File, false),
		Options: trace.Options{From: t.From, To: t.To, BlockTokens: t.BlockTokens},
	}
	c.PromptTokens, c.Starters, c.FollowupTokens, c.TurnsMin, c.TurnsMax = 0, 0, 0, 0, 0
	if !b.Valid(at) {
		return
	}
	sum, err := trace.Survey(c.Trace.File, c.Trace.Options)
	if err != nil {
		b.unread(at+".file", t.File, "cannot be replayed: ", err)
		return
	}
	n := float64(sum.Records)
	c.ownRate = sum.Rate()
	open := float64(sum.UnknownOutputs * c.MaxOutputTokens)
	c.cost = workload.Tokens{Prompt: sum.Prompt / n, Cached: sum.Cached / n, Output: (sum.Output + open) / n}
	c.shot = workload.Tokens{Prompt: c.cost.Prompt}
}

// unread reports a file whose error ends with a remedy.
func (b *builder) unread(at, file, why string, err error) {
	reason := strings.TrimPrefix(strings.TrimPrefix(err.Error(), b.resolve(file)), ":")
	remedy := ""
	if i := strings.LastIndex(reason, "; "); i >= 0 {
		reason, remedy = reason[:i], reason[i+2:]
	}
	b.Mistake(at, file, why+strings.TrimLeft(reason, ", "), remedy)
}

// drawn resolves the distributions of the workload at path. What is drawn is about
// its mean to all that counts before.
func (b *builder) drawn(path string, w fileWorkload, c *conversation) {
	for key, drawn := range map[string]string{"prompt_tokens": "prompt_tokens", "max_output_tokens": "output_tokens", "turns": "turns", "think_time": "think_seconds"} {
		if b.Has(path + ".distributions." + drawn) {
			b.NoEffect(path, "beside the distribution of the same", "remove one of the two", key)
		}
	}
	if b.Has(path + ".conversations_file") {
		b.NoEffect(path, "beside conversations_file, which brings its own", "remove one of the two", "distributions", "clients")
	}
	c.Dists = b.dists(path+".distributions", w.Distributions)
	for i, k := range w.Clients {
		at := yamlform.Index(path+".clients", i)
		if k.Process != workload.Gamma {
			b.NoEffect(at, "with process "+string(k.Process), "remove it", "burstiness")
		}
		c.Clients = append(c.Clients, workload.Client{
			Share: k.Share, Process: k.Process, Burstiness: k.Burstiness, Dists: b.dists(at+".distributions", k.Distributions),
		})
	}
	if len(c.Clients) > 0 {
		b.NoEffect(path, "beside clients, which have their own", "move it to the clients", "distributions")
		c.ownRate = 1
	}
	if b.Valid(path) {
		expect(&c.Spec)
	}
	if w.Cancel > 0 {
		c.Cancel = workload.Cancel{Share: float64(w.Cancel), Min: leastPatience, Max: mostPatience}
	}
}

// expect puts the means of what is drawn in place of what it replaces.
func expect(s *workload.Spec) {
	classes := s.Clients
	if len(classes) == 0 {
		classes = []workload.Client{{Share: 1, Dists: s.Dists}}
	}
	mean := func(of func(workload.Dists) *workload.Dist, without int) int {
		sum, weight := 0.0, 0.0
		for _, c := range classes {
			value := float64(without)
			if d := of(c.Dists); d != nil {
				value = d.EstimateMean()
			}
			sum, weight = sum+c.Share*value, weight+c.Share
		}
		return max(int(math.Ceil(sum/weight-1e-6)), 1)
	}
	if s.ConversationsFile != "" || s.Trace.File != "" {
		return
	}
	s.PromptTokens = mean(func(d workload.Dists) *workload.Dist { return d.Prompt }, s.PromptTokens)
	if s.MaxOutputTokens > 0 {
		s.MaxOutputTokens = mean(func(d workload.Dists) *workload.Dist { return d.Output }, s.MaxOutputTokens)
	}
	s.TurnsMin = mean(func(d workload.Dists) *workload.Dist { return d.Turns }, s.TurnsMin)
	s.TurnsMax = max(mean(func(d workload.Dists) *workload.Dist { return d.Turns }, s.TurnsMax), s.TurnsMin)
}

func (b *builder) dists(path string, f fileDists) workload.Dists {
	return workload.Dists{
		Prompt: b.dist(path+".prompt_tokens", f.Prompt), Output: b.dist(path+".output_tokens", f.Output),
		Turns: b.dist(path+".turns", f.Turns), Think: b.dist(path+".think_seconds", f.Think),
	}
}

// dist checks that a distribution has what its shape needs, and nothing else.
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
			b.Mistake(at, fmt.Sprint(d.Min), "is not above 0, where Pareto's tail has to begin", "write the least number")
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
			b.unread(at, d.File, "is no histogram: line ", err)
		}
	}
	return &d
}
