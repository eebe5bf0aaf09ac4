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

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/config"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// initFlags are the flags of "synthetic init": an endpoint, and where to write.
type initFlags struct {
	probeFlags
	ask  bool
	file string
}

func addInit(app *kingpin.Application) command {
	f := &initFlags{probeFlags: probeFlags{
		target: target.Target{Connection: target.PerConversation},
		spec: workload.Spec{
			Name: "init", TurnsMin: 1, TurnsMax: 1, PromptTokens: 50, MaxOutputTokens: 64,
			Timeouts: workload.Timeouts{FirstToken: 30 * time.Second, Stall: 30 * time.Second, Total: time.Minute},
		},
	}}
	c := app.Command("init", `Write a commented configuration for an endpoint.

Asks the endpoint what it is: its models, the APIs that answer, reasoning, usage,
its version and its metrics. That takes a turn for each API, of about 50 tokens and
at most 64 of answer. What it could not find out is a comment. A file that is there
is left alone.
Example:
  synthetic init --base-url http://127.0.0.1:8000/v1`)
	f.endpoint(c, "", "API to write; without it, the first that answers of "+apiList(candidates(""))+". There are")
	c.Flag("ask", "Ask the endpoint; --no-ask writes what needs no question, offline.").Default("true").BoolVar(&f.ask)
	c.Flag("output.file", "The file to write.").Default("synthetic.yml").PlaceHolder("FILE").StringVar(&f.file)
	return command{c, f.run}
}

func (f *initFlags) run(ctx context.Context, e env) error {
	if _, err := os.Lstat(f.file); !errors.Is(err, fs.ErrNotExist) {
		return usagef("%s is there, and is not written over: name another --output.file, or move it away", f.file)
	}
	bare, wanted, key := strings.Trim(f.baseURL.Path, "/") == "", f.target.API, f.target.Key
	f.target.API = cmp.Or(wanted, target.Chat)
	if !f.ask {
		f.target.Key = target.Credential{} // which need not be here
	}
	if err := f.complete(); err != nil {
		return err
	}
	f.target.Key = key
	found := findings{Target: f.target, File: f.file, Date: time.Now().Format(time.DateOnly), Asked: f.ask}
	if f.ask {
		apis := candidates(wanted)
		fmt.Fprintf(e.stderr, "synthetic: asking %s: its models, and for a turn of at most %d tokens of answer over %s\n",
			f.target.BaseURL, f.spec.MaxOutputTokens, apiList(apis))
		found.ask(ctx, f.spec, apis, bare)
	}
	if ctx.Err() != nil {
		fmt.Fprintf(e.stderr, "synthetic: interrupted: %s was not written\n", f.file)
		return errInterrupted
	}
	return f.write(e, found)
}

// write writes the configuration and checks that it is one.
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
	if found.Asked && found.Turn == nil {
		fmt.Fprintf(e.stderr, "synthetic: %s did not answer a turn; %s says why\n", found.Target.BaseURL, f.file)
	}
	fmt.Fprintf(e.stdout, "wrote %[1]s\nNext: read it, then\n  synthetic check config %[1]s\n  synthetic run --config.file=%[1]s\n", f.file)
	return nil
}

//go:embed init.yml.tmpl
var initTemplate string

// render returns the configuration.
func (n findings) render() ([]byte, error) {
	for _, path := range []*string{&n.Target.Key.File, &n.Target.HTTP.TLSConfig.CAFile} {
		if *path == "" {
			continue
		}
		// A flag's path is relative to where one stands, a key's to its file.
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
	err = t.Execute(&b, n)
	return b.Bytes(), err
}

func apiList(apis []target.API) string {
	var names []string
	for _, a := range apis {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}
