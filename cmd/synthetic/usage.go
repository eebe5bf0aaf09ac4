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
			if c.Hidden {
				continue
			}
			sentence, _, _ := strings.Cut(strings.Join(strings.Fields(c.Help), " "), ". ")
			rows = append(rows, [2]string{c.FullCommand, strings.TrimSuffix(sentence, ".") + "."})
		}
		return rows
	}})
}

// explain adds to an error of the command line what kingpin leaves out: which flags and commands there are, and how
// a value is written.
func explain(app *kingpin.Application, args []string, err error) error {
	parsed, _ := app.ParseContext(args)
	if parsed == nil {
		return err
	}
	commands, flags := app.Model().Commands, []*kingpin.FlagModel(nil)
	text, token := err.Error(), parsed.Peek().String()
	if c := parsed.SelectedCommand; c != nil {
		commands, flags = c.Model().Commands, c.Model().Flags
		for _, a := range c.Model().Args {
			if strings.HasPrefix(text, "required argument '"+a.Name+"'") {
				return fmt.Errorf("write <%s>: %s", a.Name, a.Help)
			}
		}
	}
	switch {
	case strings.HasPrefix(text, "unexpected ") && strings.ContainsAny(token, "@?"):
		return errors.New("unexpected argument, which may hold a password; write an address as --base-url=URL, without a password and a query")
	case strings.HasPrefix(text, "expected command "), strings.HasPrefix(text, "must select a subcommand "):
		return fmt.Errorf("%w; the commands are %s", err, strings.Join(names(commands), ", "))
	case flags == nil:
	case strings.HasPrefix(text, "unexpected "):
		return fmt.Errorf("unexpected argument %q; the flags are %s", token, strings.Join(written(flags, ""), ", "))
	case strings.HasPrefix(text, "unknown long flag "):
		return fmt.Errorf("%w; the flags are %s", err, strings.Join(written(flags, ""), ", "))
	case strings.HasPrefix(text, "required flag"), strings.HasPrefix(text, "expected argument for flag"):
		return fmt.Errorf("write %s", strings.Join(written(flags, text), " "))
	}
	for _, e := range parsed.Elements {
		flag, ok := e.Clause.(*kingpin.FlagClause)
		if !ok || e.Value == nil {
			continue
		}
		model := flag.Model()
		if bad := model.Value.Set(*e.Value); bad != nil && bad.Error() == err.Error() {
			return fmt.Errorf("--%s: %w", model.Name, explainValue(err, model))
		}
	}
	return err
}

// names returns the names of the commands that the help lists.
func names(commands []*kingpin.CmdModel) (all []string) {
	for _, c := range commands {
		if !c.Hidden {
			all = append(all, c.Name)
		}
	}
	return all
}

// written returns how to write the flags that a text names in quotes, or for "" the names of all flags.
func written(flags []*kingpin.FlagModel, text string) (all []string) {
	for _, f := range flags {
		name := "--" + f.Name
		switch {
		case text == "":
			all = append(all, name)
		case strings.Contains(text, "'"+name+"'"):
			all = append(all, name+"="+f.FormatPlaceHolder())
		}
	}
	return all
}

// explainValue rewrites errors about the value of a flag. Go's texts name its own functions.
func explainValue(err error, flag *kingpin.FlagModel) error {
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
		return fmt.Errorf("%w; write --%s=%s: %s", err, flag.Name, flag.FormatPlaceHolder(), flag.Help)
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%q is too large; write for example %s", number.Num, flag.FormatPlaceHolder())
	}
	return fmt.Errorf("%q is not a whole number; write for example %s", number.Num, flag.FormatPlaceHolder())
}

// helpFor returns the command line that shows the help of the chosen command.
func helpFor(app *kingpin.Application, args []string) string {
	if parsed, _ := app.ParseContext(args); parsed != nil && parsed.SelectedCommand != nil {
		return "synthetic " + parsed.SelectedCommand.FullCommand() + " --help"
	}
	return "synthetic --help"
}
