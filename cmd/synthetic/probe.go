package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"golang.org/x/net/http/httpguts"

	"synthetic/internal/config"
	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/rules"
)

// maxTurns and maxTokens are the limits of a workload, as in the configuration. A
// conversation is planned in memory.
const maxTurns, maxTokens = 1000, 2_000_000

type probeFlags struct {
	target  target.Target
	baseURL string
	spec    workload.Spec
	timeout time.Duration
	output  string
}

func addProbe(app *kingpin.Application) command {
	f := &probeFlags{
		target: target.Target{Connection: target.PerConversation, Headers: map[string]string{}, Session: target.DefaultSession()},
		spec:   workload.Spec{Name: "probe", FollowupTokens: 40},
	}
	c := app.Command("probe", `Hold one conversation now and show where its time goes.

A turn is a request and its answer. A bar shows each of its parts: the network,
the wait for the first token, and the tokens. The exit code is 0 if every turn succeeded, 1 if one failed, and 130 after
Ctrl-C. Examples:
  synthetic probe --base-url http://127.0.0.1:8000/v1 --turns 3
  synthetic probe --base-url https://llm.example.com/v1 --http2

If all tokens arrive at once, try --http2. The prober and most client libraries use
HTTP/1.1, over which some proxies hold tokens back, as nginx does by default.`)
	f.endpoint(c, string(dialect.Default), "API of the endpoint")
	c.Flag("turns", "Turns of the conversation. Each turn sends the whole history again.").Default("3").IntVar(&f.spec.TurnsMax)
	c.Flag("prompt-tokens", "Approximate length of the first message in tokens.").Default("500").IntVar(&f.spec.PromptTokens)
	c.Flag("max-output-tokens", "Limit of each answer in tokens; 0 sends no limit.").Default("128").IntVar(&f.spec.MaxOutputTokens)
	c.Flag("http2", "Use HTTP/2 if the server offers it; each turn says which version it used. Arrival times are then less exact.").BoolVar(&f.target.HTTP.EnableHTTP2)
	c.Flag("timeout", "How long to wait for the first token. The wait for each later token is as long, but at most 30s.").Default("60s").DurationVar(&f.timeout)
	c.Flag("output", "text (bars) or json.").Default("text").EnumVar(&f.output, "text", "json")
	return command{c, f.run}
}

// endpoint adds the flags that describe the endpoint. api is the default of --api, and
// apiHelp the beginning of its help.
func (f *probeFlags) endpoint(c *kingpin.CmdClause, api, apiHelp string) {
	c.Flag("base-url", "Address of the API up to /v1, such as http://127.0.0.1:8000/v1. Without a path, the default path of the API is added. Azure's and Anthropic's version of the API may follow as ?api-version=VERSION.").Required().PlaceHolder("URL").StringVar(&f.baseURL)
	flag := c.Flag("api", apiHelp+": "+apiList(dialect.Names())+".")
	if api != "" {
		flag.Default(api)
	}
	flag.EnumVar((*string)(&f.target.API), strings.Split(apiList(dialect.Names()), ", ")...)
	c.Flag("model", "Model to ask for. Default: the first that /models lists.").PlaceHolder("NAME").StringVar(&f.target.Model)
	c.Flag("api-key-file", "File that holds the API key.").PlaceHolder("FILE").StringVar(&f.target.Key.File)
	c.Flag("api-key-env", "Environment variable that holds the API key.").PlaceHolder("NAME").StringVar(&f.target.Key.Env)
	c.Flag("header", "Header to add to each request; repeatable.").PlaceHolder("NAME=VALUE").StringMapVar(&f.target.Headers)
	c.Flag("tls.ca-file", "File with the CA certificates to trust, in place of the system's.").PlaceHolder("FILE").StringVar(&f.target.HTTP.TLSConfig.CAFile)
	c.Flag("tls.insecure-skip-verify", "Do not verify the server's certificate.").BoolVar(&f.target.HTTP.TLSConfig.InsecureSkipVerify)
}

func (f *probeFlags) run(ctx context.Context, e env) error {
	if f.timeout <= 0 {
		return usagef("--timeout=%v: write a time above 0, such as 60s", f.timeout)
	}
	f.spec.Timeouts = workload.Timeouts{
		FirstToken: f.timeout, Stall: min(f.timeout, 30*time.Second), Total: max(5*time.Minute, 2*f.timeout),
	}
	if err := f.complete(); err != nil {
		return err
	}
	prober, err := probe.New(probe.Options{Target: f.target, Workload: f.spec})
	if err != nil {
		return err
	}
	defer prober.Close()
	source, err := workload.NewSource(f.spec, uint64(time.Now().UnixNano()))
	if err != nil {
		return err
	}
	model, unlisted := prober.Model(ctx)
	show := &printer{w: e.stdout, text: f.output == "text"}
	if show.text {
		fmt.Fprintf(e.stdout, "%s  model %s  %s\n\n", f.target.BaseURL, cmp.Or(model, "unknown"), count(f.spec.TurnsMax, "turn"))
	}
	plan := probe.Plan{Conversation: source.Next(), Scheduled: time.Now(), Model: model}
	sum := prober.Converse(ctx, plan, show)
	if show.text && sum.Shortened {
		fmt.Fprintf(e.stdout, "ended after turn %d: its answer is empty, or makes the history too long for another turn\n", sum.Turns)
	}
	if !show.text {
		if err := writeJSON(e.stdout, f.target.BaseURL, sum, show.results); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(e.stderr, "synthetic: interrupted before the conversation ended")
		return errInterrupted
	case sum.Outcome != probe.Success:
		f.explainFailure(ctx, e.stderr, show.results[len(show.results)-1])
		return errQuiet
	case unlisted != nil:
		fmt.Fprintf(e.stderr, "synthetic: %v; the turns name no model, --model sets one\n", unlisted)
	}
	return nil
}

// explainFailure says what to do about a failed turn.
func (f *probeFlags) explainFailure(ctx context.Context, w io.Writer, failed probe.Result) {
	var listed []string
	if failed.Status != 0 { // otherwise nothing answers a list, either
		listed, _ = probe.ListModels(ctx, probe.Options{Target: f.target})
	}
	fmt.Fprintln(w, "Next:", f.nextStep(failed, listed))
}

// nextStep says what to do about a failed turn. listed are the models of the endpoint.
func (f *probeFlags) nextStep(failed probe.Result, listed []string) string {
	model := f.target.Model
	switch {
	case failed.Status == http.StatusUnauthorized, failed.Status == http.StatusForbidden:
		return "Name a key that the server accepts with --api-key-env=NAME or --api-key-file=FILE."
	case failed.Status != 0 && len(listed) > 0 && model != "" && !slices.Contains(listed, model):
		return fmt.Sprintf("The endpoint does not list the model %q; write one that it lists with --model: %s.", model, inLine(yamlform.Sequence(listed)))
	case failed.Status == http.StatusNotFound && len(listed) == 0:
		return fmt.Sprintf("There may be no API below %s: try a --base-url that ends with /v1, as that of most servers.", f.target.BaseURL)
	case failed.Status == http.StatusTooManyRequests:
		return "The server refuses requests for load: wait, or raise the limit of this key."
	case len(listed) == 0 && model == "" && failed.Outcome == probe.HTTP4xx:
		return "The endpoint lists no models: name one with --model."
	}
	if failed.Outcome == probe.Malformed {
		return "Check --base-url: something else than an API may answer there, such as the page of a proxy."
	}
	return cmp.Or(rules.Advice(failed.Outcome), "Read the error of the turn above, and the log of the server.")
}

// parseBaseURL splits --base-url into the address and the version of the API.
func (f *probeFlags) parseBaseURL() error {
	text, query, _ := strings.Cut(f.baseURL, "?")
	if values, err := url.ParseQuery(query); err == nil && values.Has("api-version") && len(values) == 1 {
		f.target.APIVersion = values.Get("api-version")
	} else if query != "" {
		text = f.baseURL // which is rejected
	}
	address, err := config.ParseAddress(text)
	if err != nil {
		return usagef("--base-url: %w", err)
	}
	f.baseURL = address
	return nil
}

// complete checks the flags and fills in the target and the workload.
func (f *probeFlags) complete() error {
	if err := f.parseBaseURL(); err != nil {
		return err
	}
	u, err := url.Parse(f.baseURL)
	switch {
	case err != nil:
		return usagef("--base-url: %w", err)
	case f.target.Model == "" && dialect.Of(f.target.API).ModelList == "":
		return usagef("--api=%s cannot list its models: name one with --model", f.target.API)
	case f.spec.TurnsMax < 1 || f.spec.TurnsMax > maxTurns:
		return usagef("--turns=%d: write 1 to %d", f.spec.TurnsMax, maxTurns)
	case f.spec.PromptTokens < 1 || f.spec.PromptTokens > maxTokens:
		return usagef("--prompt-tokens=%d: write 1 to %d", f.spec.PromptTokens, maxTokens)
	case f.spec.MaxOutputTokens < 0 || f.spec.MaxOutputTokens > maxTokens:
		return usagef("--max-output-tokens=%d: write 0 for no limit, or at most %d", f.spec.MaxOutputTokens, maxTokens)
	case u.Scheme == "http" && (f.target.HTTP.TLSConfig.CAFile != "" || f.target.HTTP.TLSConfig.InsecureSkipVerify):
		return usagef("--tls.… has no effect on an http address: write https in --base-url, or leave the flag out")
	case u.Scheme == "http" && f.target.HTTP.EnableHTTP2:
		return usagef("--http2 has no effect on an http address, because a server offers HTTP/2 in the TLS handshake: write https in --base-url, or leave the flag out")
	case f.target.Key.File != "" && f.target.Key.Env != "":
		return usagef("--api-key-file and --api-key-env: leave one of them out")
	}
	for name, value := range f.target.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return usagef("--header %q: the name of a header has letters, digits and -, and its value is one line of text", name)
		}
	}
	if _, err := f.target.Key.Read(); err != nil {
		return usageError{err}
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = dialect.Of(f.target.API).Root
	}
	f.target.Name, f.target.BaseURL = u.Host, u.String()
	f.spec.TurnsMin = f.spec.TurnsMax
	return nil
}

// printer prints each turn when it ends and keeps the turns for the JSON.
type printer struct {
	w       io.Writer
	text    bool
	results []probe.Result
}

func (p *printer) Observe(e probe.Event) {
	r, ended := e.(probe.Result)
	if !ended {
		return
	}
	p.results = append(p.results, r)
	if p.text {
		_ = writeTurn(p.w, r) // checkedOutput keeps the error
	}
}
