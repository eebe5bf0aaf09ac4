// Command notices writes the notices that the licences of linked modules require: a list of
// the modules in a binary, for any of its platforms, with the texts of their licences. It
// fails for a module whose licence kinds.go does not allow.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	flags := flag.NewFlagSet("notices", flag.ContinueOnError)
	platforms := flags.String("platforms", "linux/amd64", "what the binary is built for: GOOS/GOARCH, separated by spaces")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("want one package of a command, got %q", flags.Args())
	}
	modules, err := linked(flags.Arg(0), strings.Fields(*platforms))
	if err != nil {
		return err
	}
	parts := make([]part, 0, len(modules))
	for _, m := range modules {
		p, err := m.part()
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	_, err = io.WriteString(w, document(flags.Arg(0), parts))
	return err
}
