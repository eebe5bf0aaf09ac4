//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/tools/measured"
)

const (
	// controlPage is how late a page of the control may come. It takes about a minute.
	controlPage = 90 * time.Second
	// pageSlack is how much later than in the control a page may come.
	pageSlack = 30 * time.Second
	// maxBlame is the share of a target's failed turns that may count as the program's own. In
	// less than seven minutes, a fault has less than a hundred turns; one of them may.
	maxBlame = 0.01
)

// cell is the result of one fault under one stall.
type cell struct {
	fault fault
	page  time.Duration // from the beginning of the fault to the page; 0 for none
	turnCounts
	lost float64 // failed turns that the objective of availability did not count
}

// cell returns the result of a fault.
func (t *trial) cell(f fault) cell {
	c := cell{fault: f}
	if logged := t.logged[string(f)]; logged != nil {
		c.turnCounts = *logged
	}
	c.lost = float64(c.failed) - t.counts[string(f)].Violations
	for _, p := range t.pages {
		delay := p.Arrived.Sub(t.onset)
		if p.Severity == "page" && p.Target == string(f) && (c.page == 0 || delay < c.page) {
			c.page = delay
		}
	}
	return c
}

// blame is the share of the failed turns that the program counted as its own faults.
func (c cell) blame() float64 { return float64(c.own) / float64(max(1, c.own+c.failed)) }

// failures lists the requirements that the trial misses. A stopped program sees no failures, so
// the bound of a page grows by the time for which it was stopped. A slow target has no bounds,
// because its turns do not fail and a program that lags leaves them out, on a busy host also in the
// control.
func (t *trial) failures(control *trial) (out []string) {
	for _, f := range t.faults {
		c, usual := t.cell(f), control.cell(f)
		bad := func(format string, values ...any) {
			out = append(out, fmt.Sprintf("%s/%s: ", f, t.name)+fmt.Sprintf(format, values...))
		}
		if c.lost != 0 {
			bad("the turn log has %d failures, the objective %g violations", c.failed, float64(c.failed)-c.lost)
		}
		if f == slowThrice {
			continue
		}
		limit := usual.page + pageSlack + t.stopped(c.page)
		if t == control {
			limit = controlPage
		}
		switch {
		case usual.page == 0:
			bad("no page in the control")
		case c.page == 0:
			bad("no page in %v", t.lasted.Round(time.Second))
		case c.page < 0 || c.page > limit:
			bad("the page came after %v; at most %v is allowed", c.page.Round(time.Second), limit.Round(time.Second))
		}
		if c.own > 1 && c.blame() > maxBlame {
			bad("%d of %d failed turns count as the program's own faults", c.own, c.own+c.failed)
		}
	}
	for _, alarm := range t.program.alarms {
		out = append(out, t.name+": "+alarm)
	}
	return append(out, t.soundFailures()...)
}

// soundFailures lists the requirements on healthy targets and on the number of requests that
// the trial misses.
func (t *trial) soundFailures() (out []string) {
	for _, p := range t.soundPages() {
		out = append(out, fmt.Sprintf("%s: page about a healthy target: %s", t.name, p.Labels))
	}
	healthy := tally{}
	for name, c := range t.counts {
		if isSound(name) {
			healthy.Started, healthy.Unsent, healthy.Unclear = healthy.Started+c.Started, healthy.Unsent+c.Unsent, healthy.Unclear+c.Unclear
			healthy.Violations += c.Violations
		}
	}
	switch all := t.soundTurns(); {
	case all.all == 0:
		out = append(out, t.name+": healthy targets have no turns")
	case all.failed > 0 || healthy.Violations > 0:
		out = append(out, fmt.Sprintf("%s: healthy targets have %d failures and %g violations of availability", t.name, all.failed, healthy.Violations))
	}
	out = append(out, t.unaccounted("healthy targets", healthy, t.received(t.sound))...)
	for _, d := range t.fleet {
		out = append(out, t.unaccounted(d.name, t.counts[d.name], t.received(d))...)
	}
	return out
}

// soundPages returns the pages about healthy targets, and those about no target.
func (t *trial) soundPages() (out []page) {
	for _, p := range t.pages {
		if p.Severity == "page" && (p.Target == "" || isSound(p.Target)) {
			out = append(out, p)
		}
	}
	return out
}

// unaccounted compares the turns that the program sent with the requests that arrived.
func (t *trial) unaccounted(name string, c tally, received float64) []string {
	sent := c.Started - c.Unsent
	if received <= sent && received >= sent-c.Unclear {
		return nil
	}
	return []string{fmt.Sprintf("%s/%s: sent %g turns (%g unclear), received %g", name, t.name, sent, c.Unclear, received)}
}

// String is the text of the cell in the table.
func (c cell) String() string {
	text := "no page"
	if c.page != 0 {
		text = fmt.Sprintf("%.0f s", c.page.Seconds())
	}
	if c.own > 0 {
		of := c.own + c.failed
		if c.fault == slowThrice {
			of = c.all
		}
		text += fmt.Sprintf(", %d of %d ours", c.own, of)
	}
	if c.lost != 0 {
		text += fmt.Sprintf(", %g lost", c.lost)
	}
	return text
}

// table is the result in Markdown: a table, and the failures.
func table(trials []*trial, each time.Duration) string {
	head := []string{"stall"}
	for _, f := range trials[0].faults {
		head = append(head, string(f))
	}
	rows := [][]string{append(head, "healthy targets")}
	var wrong []string
	for _, t := range trials {
		row := []string{t.name}
		for _, f := range trials[0].faults {
			text := ""
			if c := t.cell(f); c.all > 0 {
				text = c.String()
			}
			row = append(row, text)
		}
		rows = append(rows, append(row, t.soundText()))
		wrong = append(wrong, t.failures(trials[0])...)
	}
	text := fmt.Sprintf("%v from the beginning of the faults on\n\n%s\n", each, measured.Table("---", rows...))
	if len(wrong) == 0 {
		return text + "all cells passed\n"
	}
	return text + "FAILED\n" + strings.Join(wrong, "\n") + "\n"
}

// soundText is the result of the healthy targets in the table.
func (t *trial) soundText() string {
	all := t.soundTurns()
	text := fmt.Sprintf("%d pages, %d failures, %d of %d ours", len(t.soundPages()), all.failed, all.own, all.all)
	if slices.ContainsFunc(t.pages, func(p page) bool { return p.Alert == "SyntheticProberStarved" }) {
		text += "; a ticket about the prober"
	}
	return text
}

// soundTurns adds up the turns of healthy targets in the turn log.
func (t *trial) soundTurns() (all turnCounts) {
	for name, c := range t.logged {
		if isSound(name) {
			all.all, all.failed, all.own = all.all+c.all, all.failed+c.failed, all.own+c.own
		}
	}
	return all
}

func isSound(target string) bool { return strings.HasPrefix(target, "sound-") }
