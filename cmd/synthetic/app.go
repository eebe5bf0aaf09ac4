package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"
	"github.com/prometheus/common/version"

	"synthetic/internal/sidecar"
	"synthetic/internal/yamlform"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1   // it was tried and failed
	exitUsage   = 2   // it could not be tried: wrong flags, wrong configuration
	exitStopped = 130 // Ctrl-C or SIGTERM came before the end
)

const about = `Talks to an LLM deployment as a user does, and exports what the client sees.

Start with "synthetic demo": it needs no arguments and no network.
"synthetic probe --base-url URL" holds one conversation with a deployment of yours.
"synthetic run --config.file=synthetic.yml" is the sidecar.`

// env is what a command may touch beside its flags.
type env struct {
	stdout, stderr io.Writer
	logger         *slog.Logger
}

// command is one kingpin command and what it does.
type command struct {
	clause *kingpin.CmdClause
	run    func(ctx context.Context, e env) error
}

// exit is how kingpin's own terminations (--help, --version) leave run.
type exit int

// run is the whole program: it parses args, runs one command until it ends or
// ctx is done, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	app := kingpin.New("synthetic", about)
	app.Version(version.Print("synthetic"))
	app.HelpFlag.Short('h')
	app.UsageWriter(stdout)
	app.ErrorWriter(stderr)
	app.Terminate(func(c int) { panic(exit(c)) })
	defer func() {
		if r := recover(); r != nil {
			code = afterPanic(stderr, r)
		}
	}()

	logging := promslog.Config{Writer: stderr}
	promslogflag.AddFlags(app, &logging)
	commands := []command{
		addDemo(app), addRun(app), addProbe(app), addCheck(app), addSimulate(app), addSweep(app), addBacktest(app),
	}
	commands = append(commands, addGenerate(app)...)
	commands = append(commands, addReport(app)...)
	chosen, err := app.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "synthetic: %v\nTry \"%s\".\n", explain(app, args, err), helpFor(app, args))
		return exitUsage
	}
	e := env{stdout: stdout, stderr: stderr, logger: promslog.New(&logging)}
	for _, c := range commands {
		if c.clause.FullCommand() == chosen {
			return report(stderr, c.run(ctx, e))
		}
	}
	return exitUsage
}

// usageError is a mistake of the caller: nothing was tried.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// errQuiet ends a command with exitFailure when it has said why itself.
var errQuiet = errors.New("failed")

// errInterrupted ends a command with exitStopped when it has said why itself.
var errInterrupted = errors.New("interrupted")

// report prints err and returns its exit code.
func report(stderr io.Writer, err error) int {
	var usage usageError
	var refused sidecar.RefusedError
	var mistakes yamlform.Errors
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errQuiet):
		return exitFailure
	case errors.Is(err, errInterrupted):
		return exitStopped
	case errors.As(err, &mistakes):
		fmt.Fprintln(stderr, mistakes)
		return exitUsage
	case errors.As(err, &usage), errors.As(err, &refused):
		fmt.Fprintf(stderr, "synthetic: %v\n", err)
		return exitUsage
	}
	fmt.Fprintf(stderr, "synthetic: %v\n", err)
	return exitFailure
}
