//go:build linux

package main

import (
	"fmt"
	"math"
	"strings"
	"syscall"

	"synthetic/tools/measured"
)

// maxFailures is how often a tool may fail under a load before it is left out of the remaining runs.
const maxFailures = 2

// row holds the runs of a tool under a load.
type row struct {
	load scenario
	tool tool
	// off holds, for each column, the figures of the tool minus the truth of the same run, in ms.
	off [5][]float64
	// cpu is in seconds, memory in MB: that of the largest process.
	cpu, memory []float64
	failures    []string
}

func (r *row) gaveUp() bool { return len(r.failures) >= maxFailures }

// add adds the figures of a run that has ended.
func (r *row) add(server *truth, used *syscall.Rusage) error {
	truth, err := server.figures(r.load.requests, r.tool.interpolates)
	if err != nil {
		return err
	}
	measured, err := r.tool.read(r.tool.result)
	if err != nil {
		return err
	}
	for i := range truth {
		r.off[i] = append(r.off[i], measured[i]-truth[i])
	}
	r.cpu = append(r.cpu, float64(used.Utime.Nano()+used.Stime.Nano())/1e9)
	r.memory = append(r.memory, float64(used.Maxrss)/1024)
	return nil
}

// last describes the last run.
func (r *row) last(err error) string {
	if err != nil {
		return "failed: " + err.Error()
	}
	n := len(r.cpu) - 1
	return fmt.Sprintf("TTFT p50 %+.2f, p95 %+.2f, p99 %+.2f ms, CPU %.1f s", r.off[0][n], r.off[1][n], r.off[2][n], r.cpu[n])
}

// columns is the head of the table.
const columns = `| load | tool | TTFT p50 | p95 | p99 | TPOT p50 | p95 | CPU s | MB |
| :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`

// table returns the Markdown table of the rows with runs: medians with the range in brackets.
func table(rows []*row) string {
	var out strings.Builder
	out.WriteString(columns)
	for _, r := range rows {
		if len(r.cpu)+len(r.failures) == 0 {
			continue // the command was interrupted
		}
		name := r.tool.name
		if n := len(r.failures); n > 0 && len(r.cpu) > 0 {
			name += fmt.Sprintf(" (%d runs, %d failed)", len(r.cpu), n)
		}
		fmt.Fprintf(&out, "| %s | %s |", r.load, name)
		if len(r.cpu) == 0 {
			fmt.Fprintf(&out, " failed: %.200s | | | | | | |\n", strings.NewReplacer("\n", " ", "|", "/").Replace(r.failures[0]))
			continue
		}
		for i, values := range r.off {
			format := "%+.1f"
			if i >= 3 {
				format = "%+.2f"
			}
			out.WriteString(cell(format, " to ", values))
		}
		fmt.Fprintf(&out, "%s%s\n", cell("%.1f", "–", r.cpu), cell("%.0f", "–", r.memory))
	}
	return out.String()
}

// headings name the columns of off.
var headings = [5]string{"TTFT p50", "TTFT p95", "TTFT p99", "TPOT p50", "TPOT p95"}

// margin is how much nearer to the truth a tool must be to be named, in ms: less is noise.
var margin = [5]float64{0.1, 0.1, 0.1, 0.01, 0.01}

// wins names each figure in which another tool is nearer to the truth than synthetic, which is the first of its load, or
// needs less CPU time or memory.
func wins(rows []*row) string {
	var out strings.Builder
	var own *row
	for _, r := range rows {
		if own == nil || own.load != r.load {
			own = r
			continue
		}
		if len(r.cpu) == 0 || len(own.cpu) == 0 {
			continue
		}
		add := func(column string, theirs, ours []float64, least float64) {
			got, _, _ := measured.Range(theirs)
			want, _, _ := measured.Range(ours)
			if math.Abs(want)-math.Abs(got) > least {
				fmt.Fprintf(&out, "- %s, %s: %s %+.2f, %s %+.2f\n", r.load, column, r.tool.name, got, own.tool.name, want)
			}
		}
		for i := range r.off {
			add(headings[i], r.off[i], own.off[i], margin[i])
		}
		add("CPU s", r.cpu, own.cpu, 0)
		add("MB", r.memory, own.memory, 0)
	}
	if out.Len() == 0 {
		return "No tool is ahead of synthetic in a figure.\n\n"
	}
	return "Another tool is ahead of synthetic, by more than 0.1 ms of TTFT or 0.01 ms of TPOT:\n\n" + out.String() + "\n"
}

func cell(format, to string, values []float64) string {
	median, least, greatest := measured.Range(values)
	return fmt.Sprintf(" "+format+" ("+format+to+format+") |", median, least, greatest)
}
