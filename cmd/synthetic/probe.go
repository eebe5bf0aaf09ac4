package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"golang.org/x/net/http/httpguts"

	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
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
	c := app.Command("probe", `Hold one conversation now and show its turns as a waterfall.

The exit code is 0 if every turn succeeded, 1 if one failed, and 130 after
Ctrl-C. Examples:
  synthetic probe --base-url http://127.0.0.1:8000/v1 --turns 3
  synthetic probe --base-url https://llm.example.com/v1 --http2

Try a proxy with --http2 and without: an nginx with its defaults streams over
HTTP/2, and holds tokens back over HTTP/1.1, which the prober and most client
libraries use.`)
	f.endpoint(c, string(target.Chat), "API of the endpoint")
	c.Flag("turns", "Turns of the conversation. Each turn sends the whole history again.").Default("3").IntVar(&f.spec.TurnsMax)
	c.Flag("prompt-tokens", "Approximate length of the first message in tokens.").Default("500").IntVar(&f.spec.PromptTokens)
	c.Flag("max-output-tokens", "Limit of each answer in tokens; 0 sends no limit.").Default("128").IntVar(&f.spec.MaxOutputTokens)
	c.Flag("header", "Header to add to each request; repeatable.").PlaceHolder("NAME=VALUE").StringMapVar(&f.target.Headers)
	c.Flag("http2", "Use HTTP/2 if the server offers it; each turn says which version it used. Arrival times are then those of reads, not of the kernel.").BoolVar(&f.target.HTTP.EnableHTTP2)
	c.Flag("timeout", "How long to wait for the first token. Each next token has to follow within the same time, and within 30s.").Default("60s").DurationVar(&f.timeout)
	c.Flag("output", "text (a waterfall) or json.").Default("text").EnumVar(&f.output, "text", "json")
	return command{c, f.run}
}

// endpoint adds the flags that describe the endpoint. api is the default of --api, and
// apiHelp the beginning of its help.
func (f *probeFlags) endpoint(c *kingpin.CmdClause, api, apiHelp string) {
	c.Flag("base-url", "Address of the API up to /v1, such as http://127.0.0.1:8000/v1. Without a path, the default path of the API is added. Azure's and Anthropic's version of the API may follow as ?api-version=VERSION.").Required().PlaceHolder("URL").StringVar(&f.baseURL)
	flag := c.Flag("api", apiHelp+": "+apiList(target.APIs())+".")
	if api != "" {
		flag.Default(api)
	}
	flag.EnumVar((*string)(&f.target.API), strings.Split(apiList(target.APIs()), ", ")...)
	c.Flag("model", "Model to ask for. Default: the first that /models lists.").PlaceHolder("NAME").StringVar(&f.target.Model)
	c.Flag("api-key-file", "File that holds the API key.").PlaceHolder("FILE").StringVar(&f.target.Key.File)
	c.Flag("api-key-env", "Environment variable that holds the API key.").PlaceHolder("NAME").StringVar(&f.target.Key.Env)
	c.Flag("tls.ca-file", "File with the CA certificates to trust, in place of the system's.").PlaceHolder("FILE").StringVar(&f.target.HTTP.TLSConfig.CAFile)
	c.Flag("tls.insecure-skip-verify", "Do not verify the server's certificate.").BoolVar(&f.target.HTTP.TLSConfig.InsecureSkipVerify)
}

func (f *probeFlags) run(ctx context.Context, e env) error {
	if f.timeout <= 0 {
		return usagef("--timeout=%v: a timeout is positive", f.timeout)
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
	if unlisted != nil && ctx.Err() == nil {
		explainUnlisted(e.stderr, f.target.BaseURL, unlisted, show.results)
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
		return errQuiet
	}
	return nil
}

// explainUnlisted says that the models could not be listed, unless the turn failed for the same reason.
func explainUnlisted(w io.Writer, baseURL string, unlisted error, turns []probe.Result) {
	if len(turns) == 0 {
		return
	}
	last := turns[len(turns)-1]
	switch {
	case last.Err != "" && strings.HasSuffix(unlisted.Error(), last.Err) && last.Status == 0: // no answer
	case last.Status == http.StatusNotFound:
		fmt.Fprintf(w, "synthetic: %v\nThere may be no API below %s: the --base-url of most servers ends with /v1.\n", unlisted, baseURL)
	default:
		fmt.Fprintf(w, "synthetic: %v; the turns name no model, --model sets one\n", unlisted)
	}
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
	case f.target.Model == "" && !f.target.API.ListsModels():
		return usagef("--api=%s cannot list its models: name one with --model", f.target.API)
	case f.spec.TurnsMax < 1 || f.spec.TurnsMax > maxTurns:
		return usagef("--turns=%d: a conversation has 1 to %d turns", f.spec.TurnsMax, maxTurns)
	case f.spec.PromptTokens < 1 || f.spec.PromptTokens > maxTokens:
		return usagef("--prompt-tokens=%d: a prompt has 1 to %d tokens", f.spec.PromptTokens, maxTokens)
	case f.spec.MaxOutputTokens < 0 || f.spec.MaxOutputTokens > maxTokens:
		return usagef("--max-output-tokens=%d: give 0 for no limit, or at most %d", f.spec.MaxOutputTokens, maxTokens)
	case u.Scheme == "http" && (f.target.HTTP.TLSConfig.CAFile != "" || f.target.HTTP.TLSConfig.InsecureSkipVerify):
		return usagef("--tls.… has no effect on an http address: write https in --base-url, or leave the flag out")
	case u.Scheme == "http" && f.target.HTTP.EnableHTTP2:
		return usagef("--http2 has no effect on an http address, because a server offers HTTP/2 in the TLS handshake: write https in --base-url, or leave the flag out")
	case f.target.Key.File != "" && f.target.Key.Env != "":
		return usagef("--api-key-file and --api-key-env exclude each other")
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
		u.Path = f.target.API.DefaultPath()
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
