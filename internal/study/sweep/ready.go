package sweep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/load"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

const (
	// firstTimeout bounds the wait for the first turn of a target: a wrong address, model or key is a mistake in
	// the plan. It is not shorter because routers refuse while they start: NVIDIA Dynamo's frontend answers 404 until a
	// worker has registered, which took 20 s with a small model.
	firstTimeout = 25 * time.Second
	// readyTimeout replaces it after a switch, which may have started a large model, and after a level that
	// lost the target.
	readyTimeout = 10 * time.Minute
	// connectTimeout bounds one attempt to reach a target, so that firstTimeout holds for addresses that swallow
	// packets.
	connectTimeout = 5 * time.Second
	// readyTokens is the length of the answer of a readiness test, readyPause the time between two tests.
	readyTokens = 16
	readyPause  = 2 * time.Second
	// logNotReadyEvery is the interval of log messages about a deployment that is not ready.
	logNotReadyEvery = time.Minute
	// shownOutput bounds the shown output of a failed command, from its end. killDelay is how
	// long it may take to end after an interrupt.
	shownOutput = 4 << 10
	killDelay   = 5 * time.Second
)

// runCommand runs the command of a switch. Its errors show the output. It is the default of Options.Command.
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
func (s *sweep) awaitReady(ctx context.Context, v fleet.Variant) (string, error) {
	spec := s.Plan.Workload
	spec.MaxOutputTokens, spec.Check = readyTokens, ""
	prober, err := probe.New(probe.Options{Target: v.Target, Workload: spec, Dial: s.dialQuickly, Lag: s.Lag})
	if err != nil {
		return "", err
	}
	defer prober.Close()
	c := &conversations{prober: prober, label: "ready", salt: "[ready " + s.ID + "]\n\n"}
	atMost, remedy := firstTimeout, "start it, or correct the address, the model, the key or the workload of the plan"
	if len(v.Switch) > 0 || s.served[v.Name] {
		atMost, remedy = readyTimeout, "if loading takes longer, let the command of switch wait for it"
	}
	within, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	var lastLogged time.Time
	last := errors.New("it accepts requests, but does not answer them")
	for {
		why := s.try(within, c, spec)
		if within.Err() == nil { // otherwise this process ended the try
			last = why
		}
		switch {
		case why == nil:
			s.served[v.Name] = true
			return c.model, nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		case within.Err() != nil:
			return "", fmt.Errorf("%q completed no turn within %s: %w; %s", v.Name, atMost, last, remedy)
		case time.Since(lastLogged) >= logNotReadyEvery:
			lastLogged = time.Now()
			s.Logger.Warn("The target does not complete a turn yet; trying again", "variant", v.Name, "url", v.Target.BaseURL,
				"why", why, "at_most", atMost)
		}
		load.Pause(within, readyPause)
	}
}

// dialQuickly is Options.Dial within connectTimeout.
func (s *sweep) dialQuickly(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if s.Dial == nil {
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	return s.Dial(ctx, network, addr)
}

// try asks for the model and runs a turn. The first turns of a sweep also calibrate how many tokens a text has; the
// second has the length that the first one found. This fixes the texts of the sweep independently of its measurements.
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

// calibration says that a text of some characters had some tokens; the zero value changes nothing.
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
