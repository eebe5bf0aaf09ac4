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

type canaryFlags struct {
	configFile string
	targets    []string
}

func addCanary(app *kingpin.Application) command {
	f := &canaryFlags{}
	c := app.Command("canary", "Detect changed answers.").Command("record", fmt.Sprintf(`Record how targets answer the canary prompts.

It asks all prompts of answers.canary in the configuration in %d rounds: in every
second round all at once, in the others one after the other. It writes a file for
each target into the directory that answers.canary names. "synthetic run" compares
answers with these files. Record under normal load, record again after an intended
change of the model, and reload the sidecar. Example:
  synthetic canary record --config.file=synthetic.yml --target=chat`, answers.Rounds))
	c.Flag("config.file", "The configuration file.").Required().PlaceHolder("FILE").StringVar(&f.configFile)
	c.Flag("target", "Record only this target; repeatable. Default: all targets of answers.canary.").PlaceHolder("NAME").StringsVar(&f.targets)
	return command{c, f.run}
}

func (f *canaryFlags) run(ctx context.Context, e env) error {
	cfg, err := config.Load(f.configFile)
	switch {
	case err != nil:
		return err
	case cfg.Canary == nil:
		return usagef("%s has no answers.canary: write for example answers: {canary: {directory: canaries}}", f.configFile)
	}
	for _, name := range f.targets {
		if !slices.Contains(cfg.Canary.Targets, name) {
			return usagef("--target=%s: answers.canary of %s has the targets %q", name, f.configFile, cfg.Canary.Targets)
		}
	}
	if err := os.MkdirAll(cfg.Canary.Directory, 0o755); err != nil {
		return fmt.Errorf("creating the directory of the references: %w", err)
	}
	wanted := f.targets
	if wanted == nil {
		wanted = cfg.Canary.Targets
	}
	var errs []error
	for _, t := range cfg.Targets {
		if slices.Contains(wanted, t.Name) {
			errs = append(errs, record(ctx, e, cfg.Canary, t))
		}
	}
	return errors.Join(errs...)
}

// record writes the reference of one target.
func record(ctx context.Context, e env, c *config.Canary, t target.Target) error {
	asker := probe.NewAsker(probe.Options{Target: t})
	defer asker.Close()
	r, tokens, err := recordReference(ctx, asker, c)
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
	compared := "log-probabilities"
	if !r.Logprobs {
		compared = "texts, because the server returns no log-probabilities; increase answers.canary.tokens to detect smaller changes"
	}
	fmt.Fprintf(e.stdout, "%s: %d rounds of %d prompts, %d tokens, compared by %s; distances up to %.2g\nwrote %s\n",
		t.Name, answers.Rounds, len(c.Prompts), tokens, compared, slices.Max(r.Distances), path)
	return nil
}

// maxFailures is how many consecutive failed rounds end a recording.
const maxFailures = 4

// recordReference asks all rounds, and one round of the base model if there is one.
func recordReference(ctx context.Context, asker *probe.Asker, c *config.Canary) (r *answers.Reference, tokens int, err error) {
	model, err := asker.Model(ctx)
	if err != nil {
		return nil, 0, err
	}
	var rounds []answers.Round
	var last probe.CanaryRound
	for failed := 0; len(rounds) < answers.Rounds; {
		last, err = asker.Round(ctx, model, c.Prompts, c.Tokens, len(rounds)%2 == 1)
		tokens += last.Tokens
		if err == nil {
			rounds, failed = append(rounds, last.Round), 0
			continue
		}
		if failed++; ctx.Err() != nil || len(rounds) == 0 || failed == maxFailures {
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
	return r, tokens + base.Tokens, checkDiffers(r, base.Round, model, c.Base)
}

// checkDiffers returns an error if the model answers like its base model.
func checkDiffers(r *answers.Reference, base answers.Round, model, baseModel string) error {
	distance, _, err := r.Compare(base)
	if err != nil || distance > 2*slices.Max(r.Distances) {
		return err
	}
	return fmt.Errorf("the answers of %q are like the answers of its base model %q (distance %.2g; rounds of %q differ by up to %.2g): the adapter is not in use",
		model, baseModel, distance, model, slices.Max(r.Distances))
}
