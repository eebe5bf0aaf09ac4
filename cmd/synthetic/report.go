package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/study/report"
)

// reportFlags are the flags of report render and compare.
type reportFlags struct {
	runs      []string
	outputDir string
	failOn    string
	force     bool
}

const runsHelp = `A run of "synthetic sweep": its run.json, or the directory. A report is read, too: JSON with "levels", alone or at the end of a text. NAME=FILE gives it a name.`

func addReport(app *kingpin.Application) []command {
	r := app.Command("report", "Write reports of load tests (synthetic sweep) as Markdown and HTML.")
	return []command{
		reportCommand(r, "render", `Report one run of a sweep, and compare the deployments (variants) in it. Example:
  synthetic report render results --output.dir=report`, single),
		reportCommand(r, "compare", `Compare runs of a sweep with the first of them. Example:
  synthetic report compare old=before/run.json new=after/run.json --fail-on='ttft_p99>baseline*1.1'`, joined),
		mergeCommand(r),
	}
}

// reportCommand adds a report command. read reads its arguments.
func reportCommand(parent *kingpin.CmdClause, name, help string, read func(*reportFlags) (*report.Study, error)) command {
	f := &reportFlags{}
	c := parent.Command(name, help)
	c.Arg("run", runsHelp).Required().StringsVar(&f.runs)
	c.Flag("output.dir", "Directory to write to; it is created if it does not exist. Without it, Markdown goes to standard output.").StringVar(&f.outputDir)
	c.Flag("fail-on", `Conditions for a failure, such as "ttft_p99>1s,capacity<baseline*0.9". The exit code is 0 if none holds, 1 if one holds, and 3 if the measurement cannot tell. A summary for a pull request goes to standard output.`).StringVar(&f.failOn)
	if name == "compare" {
		c.Flag("force", "Compare runs even if their SLOs or workloads differ.").BoolVar(&f.force)
	}
	return command{c, func(_ context.Context, e env) error { return f.run(e, read) }}
}

// run reads everything before it writes, so that a mistake does not change the output.
func (f *reportFlags) run(e env, read func(*reportFlags) (*report.Study, error)) error {
	var conditions []report.Condition
	if f.failOn != "" {
		var err error
		if conditions, err = report.ParseConditions(f.failOn); err != nil {
			return usagef("--fail-on: %w", err)
		}
	}
	s, err := read(f)
	if err != nil {
		return err
	}
	files, err := report.Files(s)
	if err != nil {
		return err
	}
	shown := string(files[0].Data) // report.md
	var result report.GateResult
	if conditions != nil {
		result, shown = report.CheckGate(s, conditions)
		files = append(files, report.File{Name: "gate.md", Data: []byte(shown)})
	}
	if f.outputDir != "" {
		if err := report.Write(f.outputDir, files); err != nil {
			return err
		}
		for _, file := range files {
			fmt.Fprintf(e.stdout, "wrote %s\n", filepath.Join(f.outputDir, file.Name))
		}
	}
	if f.outputDir == "" || conditions != nil {
		if _, err := io.WriteString(e.stdout, shown); err != nil {
			return err
		}
	}
	return map[report.GateResult]error{report.GateFailed: errQuiet, report.GateInconclusive: errInconclusive}[result]
}

// single reads the only run.
func single(f *reportFlags) (*report.Study, error) {
	if len(f.runs) != 1 {
		return nil, usagef("render takes one run, not %d: use compare to compare runs, or merge to combine them", len(f.runs))
	}
	return readStudy(f.runs[0])
}

// readStudy reads FILE or NAME=FILE.
func readStudy(arg string) (*report.Study, error) {
	name, path, labelled := strings.Cut(arg, "=")
	labelled = labelled && name != "" && !strings.ContainsAny(name, `/\`)
	if !labelled {
		path = arg
	}
	s, err := report.Read(path)
	if err != nil {
		return nil, usageError{err}
	}
	if s.Run != nil && s.Run.Shard.Count > 0 {
		return nil, usagef("%s is shard %s of a sweep: add the runs of all shards first, with report merge", path, s.Run.Shard)
	}
	if labelled {
		s.Name = name
	}
	return s, nil
}

// joined reads the runs of report compare.
func joined(f *reportFlags) (*report.Study, error) {
	if len(f.runs) == 1 {
		return nil, usagef("compare takes two runs or more: use render for one")
	}
	var all []*report.Study
	for _, arg := range f.runs {
		s, err := readStudy(arg)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	for _, s := range all[1:] {
		if d := report.Difference(all[0], s); d != "" {
			if !f.force {
				return nil, usagef("these runs cannot be compared: %s; measure both with one plan, or compare anyway with --force", d)
			}
			s.Warnings = append(s.Warnings, "Compared with --force although "+d+".")
		}
	}
	return report.Join(all), nil
}
