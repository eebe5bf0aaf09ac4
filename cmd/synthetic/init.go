package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/config"
	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

type initFlags struct {
	probeFlags
	file string
}

func addInit(app *kingpin.Application) command {
	f := &initFlags{probeFlags: probeFlags{
		target: target.Target{Connection: target.PerConversation, Headers: map[string]string{}, Session: target.DefaultSession()},
		spec: workload.Spec{
			Name: "init", TurnsMin: 1, TurnsMax: 1, PromptTokens: 50, MaxOutputTokens: 64,
			Timeouts: workload.Timeouts{FirstToken: 30 * time.Second, Stall: 30 * time.Second, Total: time.Minute},
		},
	}}
	c := app.Command("init", `Write a commented configuration for an endpoint.

It asks the endpoint for its models, version and metrics. It sends one request
over each API to find out which of them answer, and whether answers have reasoning
and token counts. Each prompt has about 50 tokens, each answer at most 64. What it
cannot find out becomes a comment in the file. If no request succeeds, it writes no
file and exits with code 1. It never overwrites a file. Example:
  synthetic init --base-url http://127.0.0.1:8000/v1`)
	f.endpoint(c, "", "API to use. Default: the first of "+apiList(candidates(""))+" that answers. Known APIs")
	c.Flag("output.file", "The file to write.").Default("synthetic.yml").PlaceHolder("FILE").StringVar(&f.file)
	return command{c, f.run}
}

func (f *initFlags) run(ctx context.Context, e env) error {
	if f.file == "" {
		return usagef("--output.file is empty: name the file to write")
	}
	if _, err := os.Lstat(f.file); !errors.Is(err, fs.ErrNotExist) {
		return usagef("%s exists and is not overwritten: name another --output.file, or move it away", f.file)
	}
	for name := range f.target.Headers {
		if target.CarriesKey(name) {
			return usagef("--header %q carries a key, which is never written in the configuration: name it with --api-key-env=NAME or --api-key-file=FILE", name)
		}
	}
	wanted := f.target.API
	f.target.API = cmp.Or(wanted, dialect.Default)
	if err := f.complete(); err != nil {
		return err
	}
	hasPath := f.baseURL == f.target.BaseURL // no default path was added
	if err := checkWritable(f.file); err != nil {
		return usagef("--output.file=%s: %s; its directory must exist and be writable", f.file, yamlform.ReasonOf(err))
	}
	found := findings{Target: f.target, File: f.file, Date: time.Now().Format(time.DateOnly), TimeZone: zoneName(time.Local, localtime)}
	apis := candidates(wanted)
	fmt.Fprintf(e.stderr, "synthetic: asking %s for its models, and for an answer of at most %d tokens over each of %s\n",
		f.target.BaseURL, f.spec.MaxOutputTokens, apiList(apis))
	found.ask(ctx, f.spec, apis, hasPath)
	if ctx.Err() != nil {
		fmt.Fprintf(e.stderr, "synthetic: interrupted: %s was not written\n", f.file)
		return errInterrupted
	}
	if found.Turn == nil {
		f.explainFailure(e, found)
		return errQuiet
	}
	return f.write(e, found)
}

// checkWritable checks that a file can be made beside the named one, before tokens are spent.
func checkWritable(file string) error {
	trial, err := os.CreateTemp(filepath.Dir(file), ".synthetic-*")
	if err != nil {
		return err
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

// explainFailure prints the requests that failed. Requests with the same error share a line.
func (f *initFlags) explainFailure(e env, found findings) {
	fmt.Fprintf(e.stderr, "synthetic: no turn of %s succeeded, so %s was not written:\n", found.Target.BaseURL, f.file)
	if found.NoModels != "" {
		fmt.Fprintf(e.stderr, "  %s\n", found.NoModels)
	}
	apis := map[string][]dialect.Name{}
	for _, failed := range found.NoTurn {
		apis[failed.Err] = append(apis[failed.Err], failed.API)
	}
	for _, failed := range found.NoTurn {
		if same := apis[failed.Err]; same[0] == failed.API {
			fmt.Fprintf(e.stderr, "  one turn over %s: %s\n", apiList(same), failed.Err)
		}
	}
	fmt.Fprintln(e.stderr, "Next:", f.nextStep(found.NoTurn[0].Result, found.Models))
}

// write checks that the configuration is valid and writes it.
func (f *initFlags) write(e env, found findings) error {
	text, err := found.render()
	if err != nil {
		return err
	}
	if _, err := config.Parse(f.file, text, filepath.Dir(f.file)); err != nil {
		return err
	}
	out, err := os.OpenFile(f.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("writing the configuration: %w; choose another --output.file", err)
	}
	_, err = out.Write(text)
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("writing the configuration: %w; choose another --output.file", err)
	}
	fmt.Fprintf(e.stdout, "wrote %s\nNext: read it, then\n  %s\n  %s\n", f.file,
		commandLine("check", f.file), commandLine("run", "--config.file="+f.file))
	return nil
}

//go:embed init.yml.tmpl
var initTemplate string

// render returns the text of the configuration.
func (n findings) render() ([]byte, error) {
	for _, path := range []*string{&n.Target.Key.File, &n.Target.HTTP.TLSConfig.CAFile} {
		if *path == "" {
			continue
		}
		// Paths of flags are relative to the working directory, paths of a configuration to
		// its file.
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return nil, fmt.Errorf("finding %s: %w", *path, err)
		}
		*path = absolute
	}
	t, err := template.New("synthetic.yml").Funcs(template.FuncMap{"quote": strconv.Quote, "apis": apiList}).Parse(initTemplate)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, &n)
	return b.Bytes(), err
}

func apiList(apis []dialect.Name) string {
	var names []string
	for _, a := range apis {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

// commandLine returns a command of this program as a shell takes it, with the program's name as
// the user has typed it.
func commandLine(args ...string) string {
	words := append([]string{os.Args[0]}, args...)
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, needsQuotes) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func needsQuotes(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_=./:,@%+", r)
}
