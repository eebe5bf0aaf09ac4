package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/backtest"
	"synthetic/internal/sidecar/sink"
	"synthetic/tools/alertquality/worlds"
)

// detectFlags are the flags of "alertquality detect".
type detectFlags struct {
	worldFlags
	judged, json bool
	falsePages   float64
}

func (f *detectFlags) add(c *kingpin.CmdClause) {
	f.worldFlags.add(c)
	c.Flag("judged", "Say after each fault that its page was real, as people on call can (POST /-/judge with false=false).").BoolVar(&f.judged)
	c.Flag("false-pages", "Promised number of false pages in 30 days, of all targets together.").Default(strconv.FormatFloat(sink.DefaultPolicy().FalsePages, 'g', -1, 64)).Float64Var(&f.falsePages)
	c.Flag("json", "Print JSON.").BoolVar(&f.json)
}

func (f *detectFlags) run(ctx context.Context, stdout, progress io.Writer) error {
	c, err := f.campaign()
	if err != nil {
		return err
	}
	if c.Policy.FalsePages = f.falsePages; !(f.falsePages > 0) {
		return fmt.Errorf("--false-pages=%v: it must be positive", f.falsePages)
	}
	c.Progress, c.Judged = showProgress(progress), f.judged
	debug.SetGCPercent(400) // a run is small, so memory is cheaper than time
	began, before := time.Now(), cpuTime()
	results, err := c.Detect(ctx)
	fmt.Fprintln(progress)
	if err != nil {
		return err
	}
	if f.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", " ")
		return e.Encode(results)
	}
	if err := printDetected(stdout, results, c.Fleet > 0); err != nil {
		return err
	}
	if c.Fleet > 0 {
		results = results[:1] // the others are parts of it
	}
	used, days, turns := cpuTime()-before, 0.0, 0
	for _, r := range results {
		days, turns = days+r.Days*float64(f.days+f.warm)/float64(f.days), turns+r.Turns
	}
	_, err = fmt.Fprintf(stdout, "\nCPU %.1f s (%.1f s for 30 days of one job, %.2f µs a turn), %.1f s of time\n",
		used.Seconds(), used.Seconds()*30/days, used.Seconds()*1e6/float64(turns), time.Since(began).Seconds())
	return err
}

// cpuTime returns the CPU time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const detectLegend = `false pages in 30 days of one job [95 % interval], and hours of them; false tickets in 30 days; said: exported as
expected false pages, in 30 days; blind: share of the time with SyntheticRegressionBlind; pages: per paged fault.
Faults: % paged in time and the median minutes to the page / % with a page or ticket in time and the median minutes.

`

// printDetected writes a table, and for a fleet the figures of all jobs together.
func printDetected(w io.Writer, results []worlds.Detected, fleet bool) error {
	var lines strings.Builder
	lines.WriteString(detectLegend)
	table := tabwriter.NewWriter(&lines, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(slices.Concat([]string{"world", "days", "false pages", "hours", "tickets", "said", "blind", "pages"}, faultNames()), "\t"))
	for _, r := range results {
		row := []string{r.Model, fmt.Sprintf("%.0f", r.Days), rate(r.Score), fmt.Sprintf("%.1f", r.FalseHours*30/r.Days),
			fmt.Sprintf("%.1f", r.FalseTicketsPer30Days), promised(r), fmt.Sprintf("%.0f%%", 100*r.OpenBlind.Mean/float64(r.Jobs)), perIncident(r.Score)}
		for _, f := range shown() {
			row = append(row, foundCell(r.Score, f[1]))
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if fleet {
		r := results[0]
		fmt.Fprintf(&lines, "\n%s on healthy days: %.2f pages a week; open tickets mean %.2f, p90 %.0f, most %.0f; blind jobs mean %.2f, p90 %.0f, most %.0f, ever %d\n",
			r.Model, r.PagesPerWeek, r.OpenTickets.Mean, r.OpenTickets.P90, r.OpenTickets.Most, r.OpenBlind.Mean, r.OpenBlind.P90, r.OpenBlind.Most, r.EverBlind)
	}
	_, err := io.WriteString(w, lines.String())
	return err
}

func promised(r worlds.Detected) string {
	if r.Promised == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *r.Promised)
}

func perIncident(s backtest.Score) string {
	if _, text, ok := pagesPerIncident(s); ok {
		return text
	}
	return "–"
}

// foundCell returns the shares that were paged, and paged or ticketed, with the median minutes.
func foundCell(s backtest.Score, fault string) string {
	f, ok := faultOf(s, fault)
	if !ok {
		return ""
	}
	return part(f.Recall, f.MedianToPage) + " / " + part(f.RecallEither, f.MedianToEither)
}

func part(share float64, median *float64) string {
	if median == nil {
		return fmt.Sprintf("%.0f –", 100*share)
	}
	return fmt.Sprintf("%.0f %.1f", 100*share, *median/60)
}
