package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/alecthomas/kingpin/v2"
)

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
	words := []string{"synthetic"}
	if parsed, _ := app.ParseContext(args); parsed != nil && parsed.SelectedCommand != nil {
		words = append(words, parsed.SelectedCommand.FullCommand())
	}
	return strings.Join(append(words, "--help"), " ")
}
