package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
)

// findings are the facts about an endpoint that the template of "synthetic init" shows.
type findings struct {
	Target     target.Target
	File, Date string
	TimeZone   string // of this machine; "" if unknown

	Models   []string
	NoModels string // the error of listing the models
	NoTurn   []failedAPI
	// Turn is the first successful turn, over the API of Target. The turns over Others
	// succeeded, too.
	Turn   *probe.Result
	Others []dialect.Name
	// SlowestTTFT is the longest one of the successful turns.
	SlowestTTFT time.Duration
	// Metrics are the known metric families on the server's /metrics.
	Metrics []string
	Version string
}

// failedAPI is an API over which no turn succeeded, and the turn's error.
type failedAPI struct {
	API    dialect.Name
	Err    string
	Result probe.Result
}

// candidates returns the APIs to try: the wanted one, or all whose servers list models.
func candidates(wanted dialect.Name) []dialect.Name {
	if wanted != "" {
		return []dialect.Name{wanted}
	}
	return slices.DeleteFunc(dialect.Names(), func(n dialect.Name) bool { return dialect.Of(n).ModelList == "" })
}

// ask fills the findings. Without a path in the address, each API has its default path.
func (n *findings) ask(ctx context.Context, spec workload.Spec, apis []dialect.Name, hasPath bool) {
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
		if t.API = api; !hasPath {
			t.BaseURL = strings.TrimSuffix(first.BaseURL, dialect.Of(first.API).Root) + dialect.Of(api).Root
		}
		r, err := oneTurn(ctx, t, spec, model)
		if err == nil {
			n.SlowestTTFT = max(n.SlowestTTFT, r.TTFT.V)
		}
		switch {
		case err != nil:
			n.NoTurn = append(n.NoTurn, failedAPI{api, inLine(err.Error()), r})
		case n.Turn == nil:
			n.Turn, n.Target = &r, t
		default:
			n.Others = append(n.Others, api)
		}
	}
	n.Target.Model = model
	n.askServer(ctx)
}

// FirstToken returns the timeout to propose: ten times the slowest TTFT, rounded up to a second. The
// turns were few and short, so it is at least 5 s. It is at most the default of 30 s.
func (n *findings) FirstToken() time.Duration {
	return min(max((10*n.SlowestTTFT+time.Second-1).Truncate(time.Second), 5*time.Second), 30*time.Second)
}

// askServer asks the server for its version and its metrics.
func (n *findings) askServer(ctx context.Context) {
	client, err := serverside.NewClient(n.Target, nil)
	if err != nil {
		return
	}
	defer client.Close()
	for _, p := range client.Describe(ctx, nil) {
		if p.Name == "Server version" {
			n.Version = inLine(p.Value)
		}
	}
	if u, err := url.Parse(n.Target.BaseURL); err == nil {
		page, _ := client.Scrape(ctx, u.Scheme+"://"+u.Host+"/metrics") // not every server has metrics
		n.Metrics = page.Families
	}
}

// oneTurn takes one turn and returns an error if it does not succeed.
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
	turns := &printer{w: io.Discard}
	prober.Converse(ctx, probe.Plan{Conversation: source.Next(), Scheduled: time.Now(), Model: model}, turns)
	if len(turns.results) == 0 {
		return probe.Result{}, context.Cause(ctx)
	}
	r := turns.results[0]
	if r.Outcome != probe.Success {
		return r, fmt.Errorf("%s, %s", r.Outcome, r.Err)
	}
	return r, nil
}

// inLine turns a server's text into at most 200 characters on one line, safe in a YAML
// comment.
func inLine(text string) string {
	printing := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
	return fmt.Sprintf("%.200s", strings.Join(strings.Fields(printing), " "))
}
