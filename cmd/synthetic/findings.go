package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
)

// findings are what an endpoint said of itself.
type findings struct {
	Target     target.Target
	File, Date string
	Asked      bool

	Models []string
	// NoModels and NoTurn are why those are not known; NoTurn has a line for each
	// API that was tried.
	NoModels string
	NoTurn   []string
	// Turn is the first that succeeded, over the API of Target; Others answered, too.
	Turn   *probe.Result
	Others []target.API
	// Metrics are the families known of its page, Version what it calls its own.
	Metrics []string
	Version string
}

// candidates are the APIs to try: the wanted one, or those that say their models.
func candidates(wanted target.API) []target.API {
	if wanted != "" {
		return []target.API{wanted}
	}
	return []target.API{target.Chat, target.Responses, target.Messages, target.Completions, target.Ollama}
}

// ask fills the findings. bare says that the address had no path: each API has its
// own root then.
func (n *findings) ask(ctx context.Context, spec workload.Spec, apis []target.API, bare bool) {
	first, model := n.Target, n.Target.Model
	models, err := probe.ListModels(ctx, probe.Options{Target: first})
	if n.Models = models; err != nil {
		n.NoModels = inLine(err.Error())
	}
	if model == "" && len(models) > 0 {
		model = models[0]
	}
	for _, api := range apis {
		t := first
		if t.API = api; bare {
			t.BaseURL = strings.TrimSuffix(first.BaseURL, first.API.DefaultPath()) + api.DefaultPath()
		}
		r, err := oneTurn(ctx, t, spec, model)
		switch {
		case err != nil:
			n.NoTurn = append(n.NoTurn, string(api)+": "+inLine(err.Error()))
		case n.Turn == nil:
			n.Turn, n.Target = &r, t
		default:
			n.Others = append(n.Others, api)
		}
	}
	n.Target.Model = model
	n.askServer(ctx)
}

// askServer asks beside the API for version and metrics.
func (n *findings) askServer(ctx context.Context) {
	client, err := serverside.NewClient(n.Target, nil)
	if err != nil {
		return
	}
	defer client.Close()
	for _, p := range client.Describe(ctx, "", nil) {
		if p.Name == "Server version" {
			n.Version = inLine(p.Value)
		}
	}
	if u, err := url.Parse(n.Target.BaseURL); err == nil {
		page, _ := client.Scrape(ctx, u.Scheme+"://"+u.Host+"/metrics") // there may be none
		n.Metrics = page.Families
	}
}

// oneTurn takes one turn. The error says in words why it failed.
func oneTurn(ctx context.Context, t target.Target, spec workload.Spec, model string) (probe.Result, error) {
	prober, err := probe.New(probe.Options{Target: t, Workload: spec})
	if err != nil {
		return probe.Result{}, err
	}
	defer prober.Close()
	source, err := workload.NewSource(spec, uint64(time.Now().UnixNano()))
	if err != nil {
		return probe.Result{}, err
	}
	seen := &printer{w: io.Discard}
	prober.Converse(ctx, probe.Plan{Conversation: source.Next(), Scheduled: time.Now(), Model: model}, seen)
	if len(seen.results) == 0 {
		return probe.Result{}, context.Cause(ctx)
	}
	r := seen.results[0]
	if r.Outcome != probe.Success {
		return r, fmt.Errorf("%s, %s", r.Outcome, r.Err)
	}
	return r, nil
}

// inLine makes of a server's text one that a comment can hold.
func inLine(text string) string {
	printing := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
	return fmt.Sprintf("%.200s", strings.Join(strings.Fields(printing), " "))
}
