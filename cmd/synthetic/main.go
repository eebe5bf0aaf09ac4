// Command synthetic probes LLM deployments the way a user does and exports what the
// client sees.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"
	"github.com/prometheus/common/version"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/redact"
	"synthetic/internal/sidecar"
)

// Exit codes.
const (
	exitOK           = 0
	exitFailure      = 1   // the command ran and failed
	exitUsage        = 2   // the command could not run: wrong flags or configuration
	exitInconclusive = 3   // the measurement shows neither success nor failure
	exitStopped      = 130 // stopped by Ctrl-C or SIGTERM
)

const about = `Probe an LLM deployment the way a user does, and export what the client sees.

  synthetic demo                              try it with a simulated deployment, without a network
  synthetic probe --base-url URL              hold one conversation with a deployment
  synthetic init --base-url URL               write a configuration for it
  synthetic run --config.file=synthetic.yml   probe all the time, for Prometheus
  synthetic COMMAND --help                    explain a command and its flags`

// env holds the outputs of a command.
type env struct {
	stdout, stderr io.Writer
	logger         *slog.Logger
}

// command is a kingpin command and its function.
type command struct {
	clause *kingpin.CmdClause
	run    func(ctx context.Context, e env) error
}

// exit is the panic value with which kingpin ends run after --help or --version.
type exit int

func main() {
	// Go's HTTP clients log what a target sends, as often as it likes.
	log.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run parses args, runs one command until it ends or ctx is done, and returns the exit
// code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = afterPanic(stderr, r)
		}
	}()
	logging := promslog.Config{Writer: redact.Writer(stderr)}
	app, commands := application(&logging, stdout, stderr)
	chosen, err := app.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "synthetic: %v\nTry \"%s\".\n", explain(app, args, err), helpFor(app, args))
		return exitUsage
	}
	out := &checkedOutput{Writer: stdout}
	e := env{stdout: out, stderr: stderr, logger: promslog.New(&logging)}
	for _, c := range commands {
		if c.clause.FullCommand() == chosen {
			err := c.run(ctx, e)
			if err == nil {
				err = out.failed()
			}
			return printError(stderr, err)
		}
	}
	return exitUsage
}

// application returns the parser of the command line, and the commands.
func application(logging *promslog.Config, stdout, stderr io.Writer) (*kingpin.Application, []command) {
	app := kingpin.New("synthetic", about)
	app.Version(version.Print("synthetic"))
	app.HelpFlag.Short('h')
	listCommands(app)
	app.UsageWriter(stdout)
	app.ErrorWriter(stderr)
	app.Terminate(func(c int) { panic(exit(c)) })
	promslogflag.AddFlags(app, logging)
	return app, slices.Concat(
		[]command{addDemo(app), addInit(app), addRun(app), addProbe(app), addAccept(app), addSimulate(app), addSweep(app)},
		addCheck(app), addGenerate(app), addReport(app),
	)
}

// usageError is a mistake in the flags or in a file that they name.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// These errors only choose the exit code: the command has printed the reason itself.
var (
	errQuiet        = errors.New("failed")
	errInconclusive = errors.New("inconclusive")
	errInterrupted  = errors.New("interrupted")
)

// printError prints err and returns its exit code.
func printError(stderr io.Writer, err error) int {
	var usage usageError
	var refused sidecar.RefusedError
	var mistakes yamlform.Errors
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errQuiet):
		return exitFailure
	case errors.Is(err, errInconclusive):
		return exitInconclusive
	case errors.Is(err, errInterrupted):
		return exitStopped
	case errors.As(err, &mistakes):
		fmt.Fprintln(stderr, mistakes)
		return exitUsage
	}
	fmt.Fprintf(redact.Writer(stderr), "synthetic: %v\n", err)
	if errors.As(err, &usage) || errors.As(err, &refused) {
		return exitUsage
	}
	return exitFailure
}

// afterPanic returns the exit code for a panic of kingpin. Kingpin panics after --help, and
// when it cannot write the help.
func afterPanic(stderr io.Writer, r any) int {
	if code, ok := r.(exit); ok {
		return int(code)
	}
	var failed *fs.PathError
	if err, ok := r.(error); ok && errors.As(err, &failed) {
		fmt.Fprintf(stderr, "synthetic: %v\n", err)
		return exitFailure
	}
	panic(r)
}
