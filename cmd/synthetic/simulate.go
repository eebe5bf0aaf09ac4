package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/exporter-toolkit/web"
	webflag "github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
)

// maxSpread and maxTokensPerEvent are beyond what any engine does.
const maxSpread, maxTokensPerEvent = 5, 64

// simulateFlags are the flags of "synthetic simulate".
type simulateFlags struct {
	options   simulate.Options
	web       *web.FlagConfig
	replicas  int
	each      []simulate.Options // of the replicas, by apply
	incidents []string
	// Flags about a cluster.
	preset string
	load   int
	speed  float64
	// Which flags of the paced deployment were given, by pacedFlags.
	paced        []bool
	answerTokens bool
}

// deployment is what Deployment and Service of simulate have in common.
type deployment interface {
	http.Handler
	Run(context.Context)
}

func addSimulate(app *kingpin.Application) command {
	f := &simulateFlags{}
	o := &f.options
	c := app.Command("simulate", `Serve a simulated deployment.

It answers in the APIs of OpenAI (chat, completions, responses, embeddings),
Azure, Anthropic, Triton and Ollama, and reranks, with invented text at the pace
that the flags say, and describes itself under /metrics with vLLM's names. With
--preset it answers as a measured deployment did, in which requests share queue,
batch and cache, and has Dynamo's names, too.`)
	f.web = webflag.AddFlags(c, "127.0.0.1:8000")
	c.Flag("model", "Name of the model.").Default("simulated-chat").StringVar(&o.Model)
	c.Flag("more-models", "Name of another model, with answers of its own; repeatable.").PlaceHolder("NAME").StringsVar(&o.Models)
	c.Flag("adapter", "Name of a LoRA adapter of the model; repeatable.").PlaceHolder("NAME").StringsVar(&o.Adapters)
	c.Flag("seed", "Makes texts, delays and faults repeatable.").Default("1").Uint64Var(&o.Seed)
	c.Flag("first-token", "Median delay of the first token.").Default("120ms").DurationVar(&o.FirstToken.Median)
	c.Flag("first-token.spread", "Spread of that delay: sigma of its logarithm.").Default("0.2").Float64Var(&o.FirstToken.Sigma)
	c.Flag("prefill", "Delay added for each prompt token that is not cached.").Default("40us").DurationVar(&o.Prefill)
	c.Flag("inter-token", "Median delay between two token events.").Default("20ms").DurationVar(&o.InterToken.Median)
	c.Flag("inter-token.spread", "Spread of that delay: sigma of its logarithm.").Default("0.1").Float64Var(&o.InterToken.Sigma)
	c.Flag("tokens-per-event", "Tokens per event on average, as with speculative decoding.").Default("1").Float64Var(&o.TokensPerEvent)
	c.Flag("answer-tokens", "Median length of an answer in tokens.").Default("120").IntVar(&o.Answer.Median)
	c.Flag("answer-tokens.spread", "Spread of that length: sigma of its logarithm.").Default("0.2").Float64Var(&o.Answer.Sigma)
	c.Flag("reasoning", "Share of an answer that comes as reasoning, before the content.").PlaceHolder("SHARE").Float64Var(&o.Reasoning)
	c.Flag("reasoning.field", "Name of the reasoning in a chat: reasoning or reasoning_content.").Default("reasoning").EnumVar(&o.ReasoningField, "reasoning", "reasoning_content")
	c.Flag("refuse-max-tokens", "Answer max_tokens with 400: max_completion_tokens is wanted.").BoolVar(&o.RefuseMaxTokens)
	c.Flag("replicas", "Serve so many of them behind a router, which says in "+simulate.WorkerHeader+
		" who answered; the workers of an incident are these replicas.").PlaceHolder("N").IntVar(&f.replicas)
	f.addPreset(c)
	return command{c, f.run}
}

func (f *simulateFlags) run(ctx context.Context, e env) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := f.apply(); err != nil {
		return err
	}
	ports, err := openPorts(f.web, e.logger)
	if err != nil {
		return err
	}
	defer ports.close()
	served := f.deployment()
	keep, stopKeeping := context.WithCancel(ctx)
	var kept sync.WaitGroup
	kept.Go(func() { served.Run(keep) })
	defer kept.Wait()
	defer stopKeeping()
	// Requests end with ctx, so that hanging ones cannot hold up the end.
	server := &http.Server{
		Handler:           served,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	err = ports.serve(server)
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serving the simulated deployment: %w", err)
}

// check refuses what cannot be simulated: no share, no spread, a time that
// runs backwards.
func (f *simulateFlags) check() error {
	o := f.options
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{{"first-token", o.FirstToken.Median}, {"prefill", o.Prefill}, {"inter-token", o.InterToken.Median}} {
		if d.value < 0 {
			return usagef("--%s=%v: a delay is 0 or longer", d.flag, d.value)
		}
	}
	switch {
	case f.replicas < 0:
		return usagef("--replicas=%d: give a number of replicas from 1, or none for a deployment without a router", f.replicas)
	case o.Model == "":
		return usagef("--model is empty: a model has a name")
	case o.Answer.Median < 1:
		return usagef("--answer-tokens=%d: an answer has at least 1 token", o.Answer.Median)
	case !(o.TokensPerEvent >= 1 && o.TokensPerEvent <= maxTokensPerEvent):
		return usagef("--tokens-per-event=%v: an event carries 1 to %d tokens on average", o.TokensPerEvent, maxTokensPerEvent)
	}
	return checkNumbers(o)
}

// checkNumbers refuses spreads and shares beyond their bounds.
func checkNumbers(o simulate.Options) error {
	for _, n := range []struct {
		flag, what  string
		value, most float64
	}{
		{"reasoning", "share", o.Reasoning, 1},
		{"first-token.spread", "spread", o.FirstToken.Sigma, maxSpread},
		{"inter-token.spread", "spread", o.InterToken.Sigma, maxSpread},
		{"answer-tokens.spread", "spread", o.Answer.Sigma, maxSpread},
	} {
		// Written so that NaN, too, is refused.
		if !(n.value >= 0 && n.value <= n.most) {
			return usagef("--%s=%v: a %s is between 0 and %v", n.flag, n.value, n.what, n.most)
		}
	}
	return nil
}

// pacedFlags lists the flags that say what a preset's cluster works out.
func pacedFlags() []string {
	return []string{"first-token", "first-token.spread", "prefill", "inter-token", "inter-token.spread", "tokens-per-event"}
}

// addPreset adds the flags about a cluster to those of the paced deployment.
func (f *simulateFlags) addPreset(c *kingpin.CmdClause) {
	c.Flag("preset", "Serve the model of a measured deployment, with queue, batch and cache, in place of fixed delays: "+
		strings.Join(cluster.Presets(), ", ")+".").EnumVar(&f.preset, cluster.Presets()...)
	c.Flag("preset.load", "Conversations that other clients hold with the preset, without HTTP.").PlaceHolder("N").IntVar(&f.load)
	c.Flag("preset.speed", "How much faster than the clock the preset runs.").Default("1").Float64Var(&f.speed)
	kinds := strings.Trim(strings.ReplaceAll(fmt.Sprint(simulate.IncidentKinds()), " ", ", "), "[]")
	c.Flag("incident", "A fault with a schedule, as in slow_prefill,at=1m,for=5m,factor=4 or http_500,at=30s,share=0.2 or drift,share=1,factor=0.05 or worker_loss,workers=0+2; repeatable. The kinds: "+kinds+".").
		PlaceHolder("INCIDENT").StringsVar(&f.incidents)
	f.paced = make([]bool, len(pacedFlags()))
	for i, name := range pacedFlags() {
		c.GetFlag(name).IsSetByUser(&f.paced[i])
	}
	c.GetFlag("answer-tokens").IsSetByUser(&f.answerTokens)
}

// apply makes the options those of a preset, if one was chosen, and adds the
// incidents.
func (f *simulateFlags) apply() error {
	o := &f.options
	for _, text := range f.incidents {
		i, err := simulate.ParseIncident(text)
		if err != nil {
			return usagef("--incident: %w", err)
		}
		o.Incidents = append(o.Incidents, i)
	}
	switch {
	case f.preset != "":
		if err := f.cluster(o); err != nil {
			return err
		}
	case f.load != 0:
		return usagef("--preset.load=%d: only a preset has a load: add --preset", f.load)
	case f.speed != 1:
		return usagef("--preset.speed=%v: only a preset has a speed: add --preset", f.speed)
	}
	if err := f.replicate(); err != nil {
		return usagef("the deployment cannot be simulated: %w", err)
	}
	return nil
}

// replicate works out the options of replicas, if there are to be any, and checks them.
func (f *simulateFlags) replicate() (err error) {
	if f.replicas == 0 {
		return f.options.Validate()
	}
	f.each, err = f.options.Replicas(f.replicas)
	return err
}

// deployment is what is served: one, or several behind a router.
func (f *simulateFlags) deployment() deployment {
	if f.each == nil {
		return simulate.New(f.options)
	}
	return simulate.NewService(len(f.each), func(i int) simulate.Options { return f.each[i] })
}

// cluster fills in a preset's cluster.
func (f *simulateFlags) cluster(o *simulate.Options) error {
	if i := slices.Index(f.paced, true); i >= 0 {
		return usagef("--%s goes with fixed delays, and --preset=%s works out its own: leave one of them out", pacedFlags()[i], f.preset)
	}
	if !(f.speed > 0) {
		return usagef("--preset.speed=%v: give a factor above 0", f.speed)
	}
	preset, err := simulate.Preset(f.preset)
	if err != nil {
		return usagef("--preset: %w", err)
	}
	o.Cluster, o.Speed = preset.Cluster, f.speed
	o.Load = simulate.Load{Concurrency: f.load, WarmUp: 2 * time.Minute}
	if !f.answerTokens {
		o.Answer = preset.Answer
	}
	return nil
}
