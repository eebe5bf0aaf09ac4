package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

const (
	// readyTokens is the length of the answer that shows that a deployment is
	// ready, readyPause the time between two tries.
	readyTokens = 16
	readyPause  = 2 * time.Second
	// shownOutput is how much of a failed command's output is shown, from its
	// end; killDelay is how long it may take to end when it is told to.
	shownOutput = 4 << 10
	killDelay   = 5 * time.Second
)

// RunCommand runs the command of a switch and returns an error that shows what
// the command said. It is the default of Options.Command.
func RunCommand(ctx context.Context, s Switch, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killDelay
	err := cmd.Run()
	if ctx.Err() == context.DeadlineExceeded {
		err = fmt.Errorf("it was not over after %s", s.Timeout)
	}
	if err == nil {
		return nil
	}
	text := out.Bytes()
	text = bytes.TrimSpace(text[max(0, len(text)-shownOutput):])
	if len(text) == 0 {
		text = []byte("(nothing)")
	}
	return fmt.Errorf("the command %q failed: %w; it printed:\n%s", strings.Join(s.Command, " "), err, text)
}

// awaitReady holds one-turn conversations until one succeeds: a real turn
// through the real path, because /health answers while the engine behind it is
// wedged. It returns the name of the model.
func (s *sweep) awaitReady(ctx context.Context, v Variant) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Plan.ReadyTimeout)
	defer cancel()
	spec := s.Plan.Workload
	spec.MaxOutputTokens, spec.Check = readyTokens, workload.Check{}
	prober, err := probe.New(probe.Options{Target: v.Target, Workload: spec, Dial: s.Dial})
	if err != nil {
		return "", err
	}
	defer prober.Close()
	talk := &talker{prober: prober, label: "ready", salt: "[ready " + s.id + "]"}
	for {
		why := s.try(ctx, talk, spec)
		if why == nil {
			return talk.model, nil
		}
		if ctx.Err() == nil && pause(ctx, readyPause) {
			continue
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return "", fmt.Errorf("%q took no turn within %s (ready_timeout): %w", v.Name, s.Plan.ReadyTimeout, why)
		}
		return "", context.Cause(ctx)
	}
}

// try asks for the model and takes a turn. The first turns of a sweep also
// tell how long texts are in tokens, the second of them at the length that
// the first told: that decides the texts of the whole sweep, so that they do
// not depend on what is measured.
func (s *sweep) try(ctx context.Context, t *talker, spec workload.Spec) error {
	var err error
	if t.model, err = t.prober.Model(ctx); err != nil {
		return err
	}
	turns := 1
	if s.tokenRatio == (tokenRatio{}) {
		turns = 2
	}
	ratio := s.tokenRatio
	for range turns {
		if t.source, err = workload.NewSource(spec); err != nil {
			return err
		}
		ratio.calibrate(t.source)
		if ratio, err = t.once(ctx, ratio); err != nil {
			return err
		}
	}
	if turns > 1 {
		s.tokenRatio = ratio
	}
	return nil
}

// once takes a single turn and returns the ratio that it had, or the known one
// if it told none.
func (t *talker) once(ctx context.Context, known tokenRatio) (tokenRatio, error) {
	c := t.source.Next()
	c.Turns = 1
	last := &lastResult{}
	t.hold(ctx, nil, c, time.Now(), last)
	if last.Outcome != probe.Success {
		return known, fmt.Errorf("the last turn ended as %s: %s", last.Outcome, last.Err)
	}
	if last.PromptTokens.OK {
		known = tokenRatio{c.CharsOpening + t.mark(), last.PromptTokens.V}
	}
	return known, nil
}

// tokenRatio is how many tokens a text of so many characters was; the zero
// value says nothing.
type tokenRatio struct{ chars, tokens int }

func (r tokenRatio) calibrate(s *workload.Source) { s.Learn(r.chars, r.tokens) }

// lastResult keeps the last turn that ended.
type lastResult struct{ probe.Result }

// Observe implements probe.Sink.
func (l *lastResult) Observe(e probe.Event) {
	if r, ok := e.(probe.Result); ok {
		l.Result = r
	}
}
