package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/alecthomas/kingpin/v2"
)

// commandsInFull is the part of kingpin's help that prints the whole help of each command.
const commandsInFull = `{{range .FlattenedCommands -}}
{{if not .Hidden -}}
  {{.FullCommand}}{{if .Default}}*{{end}}{{template "FormatCommand" .}}
{{.Help|Wrap 4}}
{{end -}}
{{end -}}
`

// listCommands makes the help of the program a list of its commands with a sentence for each.
func listCommands(app *kingpin.Application) {
	app.UsageTemplate(strings.Replace(kingpin.DefaultUsageTemplate, commandsInFull, "{{.FlattenedCommands|Summaries|FormatTwoColumns}}", 1))
	app.UsageFuncs(template.FuncMap{"Summaries": func(commands []*kingpin.CmdModel) (rows [][2]string) {
		for _, c := range commands {
			sentence, _, _ := strings.Cut(strings.Join(strings.Fields(c.Help), " "), ". ")
			rows = append(rows, [2]string{c.FullCommand, strings.TrimSuffix(sentence, ".") + "."})
		}
		return rows
	}})
}

// explain adds to an error of the command line what kingpin leaves out: the name of the flag to
// an error about its value, and the names of the commands.
func explain(app *kingpin.Application, args []string, err error) error {
	parsed, _ := app.ParseContext(args)
	if parsed == nil {
		return err
	}
	model, token := app.Model(), parsed.Peek().String()
	commands := model.Commands
	if c := parsed.SelectedCommand; c != nil {
		commands = c.Model().Commands
	}
	switch text := err.Error(); {
	case strings.HasPrefix(text, "unexpected ") && strings.ContainsAny(token, "@?"):
		return fmt.Errorf("unexpected argument, which may hold a password; write an address as --base-url=URL, without a password and a query")
	case strings.HasPrefix(text, "expected command "), strings.HasPrefix(text, "must select a subcommand "):
		return fmt.Errorf("%w; the commands are %s", err, names(commands))
	}
	for _, e := range parsed.Elements {
		flag, ok := e.Clause.(*kingpin.FlagClause)
		if !ok || e.Value == nil {
			continue
		}
		model := flag.Model()
		if bad := model.Value.Set(*e.Value); bad != nil && bad.Error() == err.Error() {
			return fmt.Errorf("--%s: %w", model.Name, explainValue(err))
		}
	}
	return err
}

// names returns the names of the commands, separated by commas.
func names(commands []*kingpin.CmdModel) string {
	var all []string
	for _, c := range commands {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}

// explainValue rewrites errors about choices, numbers and durations. Go's texts name its own functions.
func explainValue(err error) error {
	var number *strconv.NumError
	text, isDuration := strings.CutPrefix(err.Error(), "time: ")
	choices, isChoice := strings.CutPrefix(err.Error(), "enum value must be one of ")
	switch {
	case isChoice:
		all, given, _ := strings.Cut(choices, ", got ")
		return fmt.Errorf("%s is none of %s", given, strings.ReplaceAll(all, ",", ", "))
	case isDuration:
		return fmt.Errorf("%s; write for example 30s, 5m or 1h30m", text)
	case !errors.As(err, &number):
		return err
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%q is too large", number.Num)
	case number.Func == "ParseUint":
		return fmt.Errorf("%q is not a whole number from 0", number.Num)
	}
	return fmt.Errorf("%q is not a number", number.Num)
}

// helpFor returns the command line that shows the help of the chosen command.
func helpFor(app *kingpin.Application, args []string) string {
	if parsed, _ := app.ParseContext(args); parsed != nil && parsed.SelectedCommand != nil {
		return "synthetic " + parsed.SelectedCommand.FullCommand() + " --help"
	}
	return "synthetic --help"
}
