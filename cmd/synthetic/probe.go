package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"golang.org/x/net/http/httpguts"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/status"
)

// maxTurns and maxTokens are the limits of a workload, which the configuration
// has, too: a conversation is planned in memory.
const maxTurns, maxTokens = 1000, 2_000_000

// probeFlags are the flags of "synthetic probe".
type probeFlags struct {
	target  target.Target
	baseURL *url.URL
	spec    workload.Spec
	output  string
}

func addProbe(app *kingpin.Application) command {
	f := &probeFlags{
		target: target.Target{Connection: target.PerConversation, Headers: map[string]string{}},
		spec:   workload.Spec{Name: "probe", FollowupTokens: 40},
	}
	c := app.Command("probe", `Hold one conversation now and show it as a waterfall.

Exit code 0 only when every turn succeeded, 1 otherwise. Example:
  synthetic probe --base-url http://127.0.0.1:8000/v1 --turns 3`)
	f.endpoint(c, string(target.Chat), "API of the endpoint")
	c.Flag("turns", "Turns of the conversation; each resends the whole history.").Default("3").IntVar(&f.spec.TurnsMax)
	c.Flag("prompt-tokens", "Approximate length of the first message in tokens.").Default("500").IntVar(&f.spec.PromptTokens)
	c.Flag("max-output-tokens", "Limit of each answer in tokens; 0 sends none.").Default("128").IntVar(&f.spec.MaxOutputTokens)
	c.Flag("header", "Header to add to each request, as NAME=VALUE; repeatable.").PlaceHolder("NAME=VALUE").StringMapVar(&f.target.Headers)
	c.Flag("timeout.first-token", "Longest wait for the first token.").Default("60s").DurationVar(&f.spec.Timeouts.FirstToken)
	c.Flag("timeout.stall", "Longest wait between two tokens.").Default("30s").DurationVar(&f.spec.Timeouts.Stall)
	c.Flag("timeout.total", "Longest turn.").Default("300s").DurationVar(&f.spec.Timeouts.Total)
	c.Flag("output", "text (a waterfall) or json.").Default("text").EnumVar(&f.output, "text", "json")
	return command{c, f.run}
}

// endpoint adds the flags that say what is asked, and how; api is the default of
// that flag, and about what it is.
func (f *probeFlags) endpoint(c *kingpin.CmdClause, api, about string) {
	c.Flag("base-url", "Where the OpenAI-compatible API is, up to and including /v1 (which is assumed when the URL has no path, where the API has it).").Required().PlaceHolder("URL").URLVar(&f.baseURL)
	kind := c.Flag("api", about+": "+strings.Join(apiNames(), ", ")+".")
	if api != "" {
		kind.Default(api)
	}
	kind.EnumVar((*string)(&f.target.API), apiNames()...)
	c.Flag("api-version", "Version of Azure's or Anthropic's API.").PlaceHolder("VERSION").StringVar(&f.target.APIVersion)
	c.Flag("model", "Model to ask for; by default the first that /models lists.").PlaceHolder("NAME").StringVar(&f.target.Model)
	c.Flag("api-key-file", "File that holds the API key.").PlaceHolder("FILE").StringVar(&f.target.Key.File)
	c.Flag("api-key-env", "Environment variable that holds the API key.").PlaceHolder("NAME").StringVar(&f.target.Key.Env)
	c.Flag("tls.ca-file", "CA certificates to trust instead of the system's.").PlaceHolder("FILE").StringVar(&f.target.HTTP.TLSConfig.CAFile)
	c.Flag("tls.insecure-skip-verify", "Do not verify the server's certificate.").BoolVar(&f.target.HTTP.TLSConfig.InsecureSkipVerify)
}

func (f *probeFlags) run(ctx context.Context, e env) error {
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
	model, err := prober.Model(ctx)
	if err != nil {
		// The turn shows better than the discovery what is wrong.
		fmt.Fprintf(e.stderr, "synthetic: %v; going on without a model name, --model sets one\n", err)
	}
	show := &printer{w: e.stdout, text: f.output == "text"}
	if show.text {
		fmt.Fprintf(e.stdout, "%s  model %s  %s\n\n", f.target.BaseURL, cmp.Or(model, "unknown"), count(f.spec.TurnsMax, "turn"))
	}
	plan := probe.Plan{Conversation: source.Next(), Scheduled: time.Now(), Model: model}
	sum := prober.Converse(ctx, plan, show)
	if show.text && sum.Shortened {
		fmt.Fprintf(e.stdout, "ended after turn %d: the answer has no content that could stand in the history, or made it too long\n", sum.Turns)
	}
	if !show.text {
		if err := status.WriteJSON(e.stdout, f.target.BaseURL, sum, show.results); err != nil {
			return err
		}
	}
	if sum.Outcome != probe.Success {
		return errQuiet
	}
	return nil
}

// complete checks the flags against each other and fills the values that the
// engine takes.
func (f *probeFlags) complete() error {
	u := f.baseURL
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return usagef("--base-url %q is no http(s) URL: write for example http://127.0.0.1:8000/v1", u.Redacted())
	case u.User != nil:
		return usagef("--base-url carries a user name or password: use --api-key-file or --header")
	case u.RawQuery != "" || u.Fragment != "":
		return usagef("--base-url %q has a query or a fragment: leave it out", u.Redacted())
	case strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/chat/completions"), strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/models"):
		return usagef("--base-url %q names an operation, which is appended by itself: end it with /v1", u.Redacted())
	case f.target.Model == "" && !f.target.API.ListsModels():
		return usagef("--api=%s cannot be asked for its models: name one with --model", f.target.API)
	case f.spec.TurnsMax < 1 || f.spec.TurnsMax > maxTurns:
		return usagef("--turns=%d: a conversation has 1 to %d turns", f.spec.TurnsMax, maxTurns)
	case f.spec.PromptTokens < 1 || f.spec.PromptTokens > maxTokens:
		return usagef("--prompt-tokens=%d: a prompt has 1 to %d tokens", f.spec.PromptTokens, maxTokens)
	case f.spec.MaxOutputTokens < 0 || f.spec.MaxOutputTokens > maxTokens:
		return usagef("--max-output-tokens=%d: give 0 for no limit, or at most %d", f.spec.MaxOutputTokens, maxTokens)
	case u.Scheme == "http" && (f.target.HTTP.TLSConfig.CAFile != "" || f.target.HTTP.TLSConfig.InsecureSkipVerify):
		return usagef("--tls.… has no effect on an http address: write https in --base-url, or leave the flag out")
	case f.target.Key.File != "" && f.target.Key.Env != "":
		return usagef("--api-key-file and --api-key-env exclude each other")
	}
	for _, t := range []struct {
		name  string
		value time.Duration
	}{{"first-token", f.spec.Timeouts.FirstToken}, {"stall", f.spec.Timeouts.Stall}, {"total", f.spec.Timeouts.Total}} {
		if t.value <= 0 {
			return usagef("--timeout.%s=%v: a timeout is positive", t.name, t.value)
		}
	}
	for name, value := range f.target.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return usagef("--header %q: a header's name is letters, digits and -, and its value one line of text", name)
		}
	}
	if _, err := f.target.Key.Read(); err != nil {
		return usageError{err}
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = f.target.API.DefaultPath()
	}
	f.target.Name, f.target.BaseURL = u.Host, strings.TrimSuffix(u.String(), "/")
	f.spec.TurnsMin = f.spec.TurnsMax
	return nil
}

func apiNames() []string {
	var names []string
	for _, api := range target.APIs() {
		names = append(names, string(api))
	}
	return names
}

// printer shows each turn as it ends and keeps them for the JSON.
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
		_ = status.WriteTurn(p.w, r) // the exit code speaks of the turns, not of stdout
	}
}
