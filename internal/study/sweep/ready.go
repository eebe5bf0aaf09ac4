package sweep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"synthetic/internal/load"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

const (
	// readyTimeout bounds the wait for the first turn of a variant: at the start, after a switch,
	// and after a level that lost the target.
	readyTimeout = 10 * time.Minute
	// refusedTimeout bounds the wait while a target that has completed no turn yet refuses each request, for example
	// because it does not serve the model. It is not shorter because routers also refuse while they start: NVIDIA Dynamo's
	// frontend answers 404 until a worker has registered, which took 20 s with a small model. A command of switch may
	// have started a large model, and a target that has served the model comes back, so these get readyTimeout.
	refusedTimeout = 3 * time.Minute
	// readyTokens is the length of the answer of a readiness test, readyPause the time between
	// two tests.
	readyTokens = 16
	readyPause  = 2 * time.Second
	// logNotReadyEvery is the interval of log messages about a deployment that is not ready.
	logNotReadyEvery = time.Minute
	// shownOutput bounds the shown output of a failed command, from its end. killDelay is how
	// long it may take to end after an interrupt.
	shownOutput = 4 << 10
	killDelay   = 5 * time.Second
)

// runCommand runs the command of a switch. Its errors show the output. It is the default of
// Options.Command.
func runCommand(ctx context.Context, command, env []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killDelay
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	text := cmp.Or(string(bytes.TrimSpace(out[max(0, len(out)-shownOutput):])), "(nothing)")
	return fmt.Errorf("the command %q failed: %w; it printed:\n%s", strings.Join(command, " "), err, text)
}

// awaitReady runs one-turn conversations until one succeeds, because /health answers even if
// the engine behind it hangs. It returns the name of the model.
func (s *sweep) awaitReady(ctx context.Context, v Variant) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	spec := s.Plan.Workload
	spec.MaxOutputTokens, spec.Check = readyTokens, ""
	prober, err := probe.New(probe.Options{Target: v.Target, Workload: spec, Dial: s.Dial, Lag: s.Lag})
	if err != nil {
		return "", err
	}
	defer prober.Close()
	c := &conversations{prober: prober, label: "ready", salt: "[ready " + s.id + "]\n\n"}
	var lastLogged, refusedSince time.Time // refusedSince is zero if the last turn was not refused
	for {
		why, atMost := s.try(ctx, c, spec), readyTimeout
		if !errors.Is(why, errRefused) {
			refusedSince = time.Time{}
		} else if len(v.Switch) == 0 && !s.served[v.Name] {
			atMost = refusedTimeout
			if refusedSince.IsZero() {
				refusedSince = time.Now()
			}
		}
		switch {
		case why == nil:
			s.served[v.Name] = true
			return c.model, nil
		case !refusedSince.IsZero() && time.Since(refusedSince) >= refusedTimeout:
			return "", fmt.Errorf("%q completed no turn for %s: %w; correct the model, the key or the workload of the plan", v.Name, refusedTimeout, why)
		case ctx.Err() == nil && time.Since(lastLogged) >= logNotReadyEvery:
			lastLogged = time.Now()
			s.Logger.Warn("The target does not complete a turn yet; trying again", "variant", v.Name, "url", v.Target.BaseURL,
				"why", why, "at_most", atMost)
		}
		switch {
		case load.Pause(ctx, readyPause):
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return "", fmt.Errorf("%q completed no turn within %s: %w; if loading takes longer, let the command of switch wait for it", v.Name, readyTimeout, why)
		default:
			return "", ctx.Err()
		}
	}
}

// errRefused marks the error of a turn that the target refused with a status of the 400s.
var errRefused = errors.New("the target refused the last turn")

// try asks for the model and runs a turn. The first turns of a sweep also calibrate how many
// tokens a text has; the second has the length that the first one found. This fixes the texts
// of the sweep independently of its measurements.
func (s *sweep) try(ctx context.Context, c *conversations, spec workload.Spec) (err error) {
	if c.model, err = c.prober.Model(ctx); err != nil {
		return err
	}
	known, first := s.calibration, s.calibration == (calibration{})
	if first {
		if known, err = c.calibrate(ctx, spec, known); err != nil {
			return err
		}
	}
	if known, err = c.calibrate(ctx, spec, known); err == nil && first {
		s.calibration = known
	}
	return err
}

// calibration says that a text of some characters had some tokens; the zero value changes
// nothing.
type calibration struct{ chars, tokens int }

// calibrate runs one turn with a text of the calibrated length and returns a calibration from
// its usage, or the known one if usage is missing.
func (v *conversations) calibrate(ctx context.Context, spec workload.Spec, known calibration) (calibration, error) {
	source, err := workload.NewSource(spec, 0)
	if err != nil {
		return known, err
	}
	defer source.Close()
	source.Learn(known.chars, known.tokens)
	c := source.Next()
	c.Turns, c.Outputs, c.Patience = 1, nil, nil // the answer has the limit of the workload
	var last resultKeeper
	v.hold(ctx, nil, &c, time.Now(), &last)
	if last.Outcome == probe.HTTP4xx {
		return known, fmt.Errorf("%w as %s: %s", errRefused, last.Outcome, last.Err)
	}
	if last.Outcome != probe.Success && !(last.Outcome == probe.Aborted && last.Events > 0) { // a level measures these
		return known, fmt.Errorf("the last turn ended as %s: %s", last.Outcome, last.Err)
	}
	if last.PromptTokens.OK {
		known = calibration{c.CharsOpening + len(v.salt), last.PromptTokens.V}
	}
	return known, nil
}

type resultKeeper struct{ probe.Result }

// Observe implements probe.Sink.
func (l *resultKeeper) Observe(e probe.Event) {
	if r, ok := e.(probe.Result); ok {
		l.Result = r
	}
}
