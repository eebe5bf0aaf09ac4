package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/atomicfile"
	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/target"
	"synthetic/internal/sidecar"
)

// canaryFlags are the flags of "synthetic canary record".
type canaryFlags struct {
	configFile string
	targets    []string
	rounds     int
}

func addCanary(app *kingpin.Application) command {
	f := &canaryFlags{}
	c := app.Command("canary", "Whether deployments still answer as they did.").Command("record", `Record how targets answer the canary's prompts.

Asks the prompts of answers.canary of the configuration many times over, every
other time all at once, and writes one file for each target into its directory,
by which "synthetic run" tells whether the answers have changed. Record under the
usual load, after a change that is meant, and reload.`)
	c.Flag("config.file", "The configuration file.").Required().PlaceHolder("FILE").StringVar(&f.configFile)
	c.Flag("target", "Only this target, by its label; repeatable.").PlaceHolder("NAME").StringsVar(&f.targets)
	c.Flag("rounds", fmt.Sprintf("How often each prompt is asked, at least %d: the more, the sooner a change is found.", answers.LeastRounds)).Default(fmt.Sprint(answers.Rounds)).IntVar(&f.rounds)
	return command{c, f.run}
}

func (f *canaryFlags) run(ctx context.Context, e env) error {
	if f.rounds < answers.LeastRounds {
		return usagef("--rounds=%d: a reference needs %d to know what is usual", f.rounds, answers.LeastRounds)
	}
	cfg, err := config.Load(f.configFile)
	switch {
	case err != nil:
		return err
	case cfg.Canary == nil:
		return usagef("%s has no answers.canary: write for example answers: {canary: {directory: canaries}}", f.configFile)
	}
	for _, name := range f.targets {
		if !slices.Contains(cfg.Canary.Targets, name) {
			return usagef("--target=%s: answers.canary of %s has %q", name, f.configFile, cfg.Canary.Targets)
		}
	}
	if err := os.MkdirAll(cfg.Canary.Directory, 0o755); err != nil {
		return fmt.Errorf("making the directory of the references: %w", err)
	}
	var errs []error
	for _, t := range cfg.Targets {
		wanted := f.targets
		if wanted == nil {
			wanted = cfg.Canary.Targets
		}
		if slices.Contains(wanted, t.Name) {
			errs = append(errs, f.record(ctx, e, cfg.Canary, t))
		}
	}
	return errors.Join(errs...)
}

// record writes the reference of one target.
func (f *canaryFlags) record(ctx context.Context, e env, c *config.Canary, t target.Target) error {
	asker := probe.NewAsker(probe.Options{Target: t})
	defer asker.Close()
	r, tokens, err := f.reference(ctx, asker, c)
	if err != nil {
		return fmt.Errorf("target %q: %w; nothing was written", t.Name, err)
	}
	r.Target = t.Name
	data, err := r.Encode()
	if err != nil {
		return err
	}
	path := sidecar.ReferenceFile(c, t.Name)
	if err := atomicfile.Write(path, data, 0o644); err != nil {
		return fmt.Errorf("writing the reference of %q: %w", t.Name, err)
	}
	by := "log-probabilities"
	if !r.Logprobs {
		by = "texts, since the server gives no log-probabilities: write more tokens in answers.canary for a change to show"
	}
	fmt.Fprintf(e.stdout, "%s: %s of %d prompts, %d tokens, compared by %s; distances up to %.2g\nwrote %s\n",
		t.Name, count(f.rounds, "round"), len(c.Prompts), tokens, by, slices.Max(r.Distances), path)
	return nil
}

// mostFailed rounds in a row end a recording that has begun; fewer are asked again.
const mostFailed = 4

// reference asks the rounds, and the base model for one.
func (f *canaryFlags) reference(ctx context.Context, asker *probe.Asker, c *config.Canary) (r *answers.Reference, tokens int, err error) {
	model, err := asker.Model(ctx)
	if err != nil {
		return nil, 0, err
	}
	var rounds []answers.Round
	var last probe.Asked
	for failed := 0; len(rounds) < f.rounds; {
		last, err = asker.Round(ctx, model, c.Prompts, c.Tokens, len(rounds)%2 == 1)
		tokens += last.Tokens
		if err == nil {
			rounds, failed = append(rounds, last.Round), 0
			continue
		}
		if failed++; ctx.Err() != nil || len(rounds) == 0 || failed == mostFailed {
			return nil, 0, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(failed) * time.Second):
		}
	}
	if r, err = answers.NewReference(c.Prompts, rounds); err != nil {
		return nil, 0, err
	}
	r.Recorded, r.Model, r.Fingerprint, r.Tokens = time.Now().UTC(), model, last.Fingerprint, c.Tokens
	if c.Base == "" {
		return r, tokens, nil
	}
	base, err := asker.Round(ctx, c.Base, c.Prompts, c.Tokens, false)
	if err != nil {
		return nil, 0, fmt.Errorf("the base model: %w", err)
	}
	return r, tokens + base.Tokens, differs(r, base.Round, model, c.Base)
}

// differs refuses a model that answers as its base does.
func differs(r *answers.Reference, base answers.Round, model, name string) error {
	d, _, err := r.Compare(base)
	if err == nil && d <= 2*slices.Max(r.Distances) {
		err = fmt.Errorf("the answers of %q cannot be told from those of its base model %q (distance %.2g, its own are up to %.2g): the adapter is not in use", model, name, d, slices.Max(r.Distances))
	}
	return err
}
