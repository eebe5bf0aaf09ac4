//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
)

// check is one thing that must hold.
type check struct {
	Name string `json:"name"`
	// Bound says what must hold, Seen what was.
	Bound string `json:"bound"`
	Seen  string `json:"seen"`
	OK    bool   `json:"ok"`
	// Open says that there was too little to tell.
	Open bool `json:"open,omitempty"`
}

// quantity is something that a process holds and that must not grow. Floor is
// the growth, over the calm samples of the second half of a life, that no check
// is made of: what a pool or a table takes to fill.
type quantity struct {
	Name  string
	Of    func(sample) float64
	Floor float64
	Unit  float64
	// Settles is the age of a life from which on it is judged, in seconds.
	Settles float64
}

const megabyte = 1e6

// quantities are judged by their slopes. A leak of one connection a minute, of a
// goroutine a minute or of 1 MB of heap in five shows within an hour.
func quantities() []quantity {
	// The pager keeps 120 samples of a series on the heap before they become a
	// chunk in a file: at a round of 5 s that takes ten minutes.
	const pagerFills = 11 * 60
	return []quantity{
		{"live heap, MB", func(s sample) float64 { return s.Heap }, 6 * megabyte, megabyte, pagerFills},
		{"goroutines", func(s sample) float64 { return s.Goroutines }, 40, 1, 0},
		{"open files", func(s sample) float64 { return s.Open }, 40, 1, 0},
		{"series", func(s sample) float64 { return s.Series }, 400, 1, 0},
	}
}

const (
	// mostRSS bounds the resident memory at any time, anonymous and of files.
	mostRSS = 256 * megabyte
	// leastSamples, over leastSpan seconds, tell a slope from noise.
	leastSamples, leastSpan = 15, 60
	// pageLag is how long after a fault a page may begin: windows fill.
	pageLag = 15 * 60
)

// judge makes the report of what was seen.
func (s *soak) judge() *report {
	r := &report{s: s, Pages: s.mail.all()}
	r.Checks = append(r.Checks, s.checkMemory())
	for _, q := range quantities() {
		r.Checks = append(r.Checks, s.checkGrowth(q))
	}
	r.Checks = append(r.Checks, s.checkCounts(), s.checkFalsePages(r.Pages), s.checkMissedPages(r.Pages), s.checkReady(), s.checkAlarms())
	return r
}

func (s *soak) checkMemory() check {
	worst := 0.0
	for _, one := range s.samples {
		worst = max(worst, one.RSS)
	}
	return check{"resident memory", "at most 256 MB at any time", fmt.Sprintf("%.0f MB", worst/megabyte), worst <= mostRSS && worst > 0, false}
}

// checkGrowth lays a line through the calm samples of the second half of each
// life.
func (s *soak) checkGrowth(q quantity) check {
	c := check{Name: "growth of " + q.Name, OK: true, Open: true,
		Bound: fmt.Sprintf("per life at most %g over the calm samples of its second half%s, or four standard errors of the slope", q.Floor/q.Unit, q.from())}
	var seen []string
	for _, l := range s.program.lives {
		x, y := s.secondHalf(l.Number, q.Of, q.Settles)
		f := fit(x, y)
		if f.N < leastSamples || f.Span < leastSpan {
			continue
		}
		c.Open = false
		gained, chance := f.growth()
		bad := gained > max(q.Floor, chance)
		c.OK = c.OK && !bad
		seen = append(seen, fmt.Sprintf("life %d: %+.2f in %.0f min (chance %.2f)", l.Number, gained/q.Unit, f.Span/60, chance/q.Unit))
	}
	c.Seen = strings.Join(seen, "; ")
	if c.Open {
		c.Seen = fmt.Sprintf("no life has %d calm samples over %d s there: too short to tell", leastSamples, leastSpan)
	}
	return c
}

// from says from when on a quantity is judged.
func (q quantity) from() string {
	if q.Settles == 0 {
		return ""
	}
	return fmt.Sprintf(" from %.0f minutes on", q.Settles/60)
}

func (s *soak) secondHalf(life int, of func(sample) float64, settles float64) (x, y []float64) {
	var own []sample
	for _, one := range s.samples {
		if one.Life == life {
			own = append(own, one)
		}
	}
	if len(own) == 0 {
		return nil, nil
	}
	half := max((own[0].At+own[len(own)-1].At)/2, own[0].At+settles)
	for _, one := range own {
		if one.At >= half && one.Calm && one.Missed == "" {
			x, y = append(x, one.At), append(y, of(one))
		}
	}
	return x, y
}

// checkCounts compares what the program counted as sent with what each target
// received, for lives that ended in good order. What follows the last scrape is
// known: turns in flight were sent, and no others start.
func (s *soak) checkCounts() check {
	c := check{Name: "turns: client = server", Bound: "equal for each kept target, over each life that ended by SIGTERM; turns that the program cut short itself may be on either side", OK: true, Open: true}
	turns, unclear, lives := 0.0, 0.0, 0
	var wrong []string
	for i, l := range s.program.lives {
		if l.final == nil {
			continue
		}
		lives++
		c.Open = false
		for d, target := range s.set.fleet[:kept] {
			t := l.final[target.name]
			got := float64(s.receivedAfter(i, d) - l.before[d])
			sent := t.Started - t.Unsent
			turns, unclear = turns+got, unclear+t.Unclear
			if got > sent || got < sent-t.Unclear {
				wrong = append(wrong, fmt.Sprintf("life %d, %s: sent %g (%g unclear), received %g", l.Number, target.name, sent, t.Unclear, got))
			}
		}
	}
	c.OK = len(wrong) == 0 && !c.Open
	c.Seen = fmt.Sprintf("%g turns in %d lives, %g of them unclear", turns, lives, unclear)
	if len(wrong) > 0 {
		c.Seen += "; " + strings.Join(wrong[:min(5, len(wrong))], "; ")
	}
	return c
}

// receivedAfter is what a deployment had received when a life was over.
func (s *soak) receivedAfter(life, deployment int) int {
	if life+1 < len(s.program.lives) {
		return s.program.lives[life+1].before[deployment]
	}
	return s.set.fleet[deployment].count()
}

// checkFalsePages finds pages without a fault that they could be of.
func (s *soak) checkFalsePages(pages []page) check {
	var wrong []string
	paged := 0
	for _, p := range pages {
		if p.Severity != "page" {
			continue
		}
		paged++
		if p.Alert == starved {
			continue
		}
		caused := slices.ContainsFunc(s.plan.Spells, func(f spell) bool {
			return f.Target == p.Target && p.Starts >= f.FromSec && p.Starts <= f.ToSec+pageLag
		})
		if !caused {
			wrong = append(wrong, fmt.Sprintf("at %.0f s %s", p.Starts, p.Labels))
		}
	}
	return check{Name: "no page without a fault", Bound: "each page names a target, and begins in a fault of it or at most 15 minutes after; that the prober is starved is the fault of the machine",
		Seen: fmt.Sprintf("%d pages, %d without a fault%s", paged, len(wrong), listed(wrong)), OK: len(wrong) == 0}
}

// starved is the page of a prober that has too little CPU to judge: it holds the
// others back, and says nothing of the deployments.
const starved = "SyntheticProberStarved"

// heldBack is how long after a starved moment pages are held back, in seconds.
const heldBack = 120

// starvedWithin says that the program was in no state to judge the target at some
// moment.
func (s *soak) starvedWithin(target string, from, to float64) bool {
	return slices.ContainsFunc(s.samples, func(one sample) bool {
		return slices.Contains(one.Starved, target) && one.At >= from && one.At <= to
	})
}

// checkMissedPages finds outages that did not page, of those that were over
// before the run was.
func (s *soak) checkMissedPages(pages []page) check {
	var missed []string
	late, outages, unjudged := 0.0, 0, 0
	for _, f := range s.plan.Spells {
		if !f.Outage || f.ToSec > s.lasted() {
			continue
		}
		outages++
		// One that the alert before it is still kept for begins no new one.
		i := slices.IndexFunc(pages, func(p page) bool {
			return p.Alert == "SyntheticTargetDown" && p.Target == f.Target && p.Starts <= f.ToSec && (p.Starts >= f.FromSec || !p.Resolved || p.Ended >= f.FromSec)
		})
		switch {
		case i < 0 && s.starvedWithin(f.Target, f.FromSec-heldBack, f.ToSec):
			unjudged++
			continue
		case i < 0:
			missed = append(missed, f.String())
			continue
		}
		late = max(late, pages[i].Told-f.FromSec)
	}
	return check{Name: "a page for each outage", Bound: "SyntheticTargetDown reaches the Alertmanager while the outage lasts, or is still kept of the one before",
		Seen: fmt.Sprintf("%d outages, %d of them without a page while the program said that it could not judge the target, the slowest page after %.0f s%s", outages, unjudged, late, listed(missed)), OK: len(missed) == 0, Open: outages == unjudged}
}

// lasted is how long the run was, in seconds.
func (s *soak) lasted() float64 {
	if len(s.samples) == 0 {
		return 0
	}
	return s.samples[len(s.samples)-1].At
}

// checkReady finds moments at which a process that should probe was not ready.
func (s *soak) checkReady() check {
	missed, crowded := map[string]int{}, 0
	for _, one := range s.samples {
		switch {
		case one.Ready:
		case one.Crowded:
			crowded++
		default:
			missed[one.Missed]++
		}
	}
	var wrong []string
	for why, n := range missed {
		wrong = append(wrong, fmt.Sprintf("%d times %s", n, why))
	}
	slices.Sort(wrong)
	return check{Name: "ready while probing", Bound: "/-/ready and /metrics answer at each sample, but for those that are taken amid a crowd", Seen: fmt.Sprintf("%d samples, %d of them turned away amid a crowd%s", len(s.samples), crowded, listed(wrong)), OK: len(wrong) == 0 && len(s.samples) > 0}
}

func (s *soak) checkAlarms() check {
	all := s.program.alarms
	return check{Name: "no panic, no key told, each end in good order", Bound: "none in log, pages, metrics and alerts", Seen: fmt.Sprintf("%d%s", len(all), listed(all)), OK: len(all) == 0}
}

func listed(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all[:min(5, len(all))], "; ")
}
