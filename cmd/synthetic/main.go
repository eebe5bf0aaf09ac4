// Command synthetic probes LLM deployments as a user does and exports what the
// client sees.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"
	"github.com/prometheus/common/version"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/sidecar"
)

// Exit codes.
const (
	exitOK           = 0
	exitFailure      = 1   // it was tried and failed
	exitUsage        = 2   // it could not be tried: wrong flags, wrong configuration
	exitInconclusive = 3   // it was tried, and shows neither
	exitStopped      = 130 // Ctrl-C or SIGTERM came before the end
)

const about = `Talks to an LLM deployment as a user does, and exports what the client sees.

Start with "synthetic demo": it needs no arguments and no network.
"synthetic probe --base-url URL" holds one conversation with a deployment of yours.
"synthetic init --base-url URL" writes a configuration for it, and
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

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
	commands := slices.Concat(
		[]command{addDemo(app), addInit(app), addRun(app), addProbe(app), addAccept(app), addCanary(app), addSimulate(app), addSweep(app), addBacktest(app)},
		addCheck(app), addGenerate(app), addReport(app),
	)
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

// errInconclusive ends a command with exitInconclusive when it has said why itself.
var errInconclusive = errors.New("inconclusive")

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
	case errors.Is(err, errInconclusive):
		return exitInconclusive
	case errors.Is(err, errInterrupted):
		return exitStopped
	case errors.As(err, &mistakes):
		fmt.Fprintln(stderr, mistakes)
		return exitUsage
	}
	fmt.Fprintf(stderr, "synthetic: %v\n", err)
	if errors.As(err, &usage) || errors.As(err, &refused) {
		return exitUsage
	}
	return exitFailure
}

// afterPanic returns the exit code of a panic of kingpin: its way to leave after
// --help, and what it does when the help cannot be written.
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

// explain adds to an error about a flag's value which flag it is; kingpin says
// only what is wrong with the value.
func explain(app *kingpin.Application, args []string, err error) error {
	parsed, _ := app.ParseContext(args)
	if parsed == nil {
		return err
	}
	err = explainRemoved(parsed, err)
	for _, e := range parsed.Elements {
		flag, ok := e.Clause.(*kingpin.FlagClause)
		if !ok || e.Value == nil {
			continue
		}
		model := flag.Model()
		if bad := model.Value.Set(*e.Value); bad != nil && bad.Error() == err.Error() {
			return fmt.Errorf("--%s: %w", model.Name, plain(err))
		}
	}
	return err
}

// plain says of a number that it is none, without the name of the parser.
func plain(err error) error {
	var number *strconv.NumError
	switch {
	case !errors.As(err, &number):
		return err
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%q is too large", number.Num)
	case number.Func == "ParseUint":
		return fmt.Errorf("%q is no whole number from 0", number.Num)
	}
	return fmt.Errorf("%q is no number", number.Num)
}

// helpFor is the call that shows the help of the command that was meant.
func helpFor(app *kingpin.Application, args []string) string {
	if parsed, _ := app.ParseContext(args); parsed != nil && parsed.SelectedCommand != nil {
		return "synthetic " + parsed.SelectedCommand.FullCommand() + " --help"
	}
	return "synthetic --help"
}
