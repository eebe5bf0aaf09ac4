//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
)

// check is one requirement and its result.
type check struct {
	Name string `json:"name"`
	// Bound is the requirement, Seen the observed value.
	Bound string `json:"bound"`
	Seen  string `json:"seen"`
	OK    bool   `json:"ok"`
	// Open is true if there was too little data.
	Open bool `json:"open,omitempty"`
}

// quantity is a resource of the process that must not grow. Growth of at most Floor over
// the calm samples of the second half of a life is ignored, because pools and tables fill.
type quantity struct {
	Name  string
	Of    func(sample) float64
	Floor float64
	Unit  float64
	// Settles is the minimum age of a judged life in seconds.
	Settles float64
}

const megabyte = 1e6

// quantities are judged by their slopes. A leak of one connection or goroutine a minute, or
// of 1 MB of heap in five minutes, shows within an hour.
func quantities() []quantity {
	// The pager keeps 120 samples of a series on the heap before it writes them to a file.
	// At an interval of 5 s that takes ten minutes.
	const pagerFills = 11 * 60
	return []quantity{
		{"live heap, MB", func(s sample) float64 { return s.Heap }, 6 * megabyte, megabyte, pagerFills},
		{"goroutines", func(s sample) float64 { return s.Goroutines }, 40, 1, 0},
		{"open files", func(s sample) float64 { return s.Open }, 40, 1, 0},
		{"series", func(s sample) float64 { return s.Series }, 400, 1, 0},
	}
}

const (
	// maxRSS bounds the resident memory, anonymous and of files, at any time.
	maxRSS = 256 * megabyte
	// minSamples and minSpan, in seconds, are needed to tell a slope from noise.
	minSamples, minSpan = 15, 60
	// pageLag is how long after a fault, in seconds, a page may start, because the windows
	// of the alerts fill.
	pageLag = 15 * 60
)

// judge makes the report of the run.
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
	for _, current := range s.samples {
		worst = max(worst, current.RSS, current.PeakRSS)
	}
	return check{"resident memory", "at most 256 MB at any time", fmt.Sprintf("%.0f MB", worst/megabyte), worst <= maxRSS && worst > 0, false}
}

// checkGrowth fits a line to the calm samples of the second half of each life.
func (s *soak) checkGrowth(q quantity) check {
	c := check{Name: "growth of " + q.Name, OK: true, Open: true,
		Bound: fmt.Sprintf("per life at most %g over the calm samples of its second half%s, or four standard errors of the slope", q.Floor/q.Unit, q.from())}
	var results []string
	for _, l := range s.program.lives {
		x, y := s.secondHalf(l.Number, q.Of, q.Settles)
		f := fit(x, y)
		if f.N < minSamples || f.Span < minSpan {
			continue
		}
		c.Open = false
		gained, chance := f.growth()
		bad := gained > max(q.Floor, chance)
		c.OK = c.OK && !bad
		results = append(results, fmt.Sprintf("life %d: %+.2f in %.0f min (chance %.2f)", l.Number, gained/q.Unit, f.Span/60, chance/q.Unit))
	}
	c.Seen = strings.Join(results, "; ")
	if c.Open {
		c.Seen = fmt.Sprintf("no life has %d calm samples over %d s there: too few to tell", minSamples, minSpan)
	}
	return c
}

// from describes Settles.
func (q quantity) from() string {
	if q.Settles == 0 {
		return ""
	}
	return fmt.Sprintf(" from %.0f minutes on", q.Settles/60)
}

func (s *soak) secondHalf(life int, get func(sample) float64, settles float64) (x, y []float64) {
	var samples []sample
	for _, current := range s.samples {
		if current.Life == life {
			samples = append(samples, current)
		}
	}
	if len(samples) == 0 {
		return nil, nil
	}
	half := max((samples[0].At+samples[len(samples)-1].At)/2, samples[0].At+settles)
	for _, current := range samples {
		if current.At >= half && current.Calm && current.Missed == "" {
			x, y = append(x, current.At), append(y, get(current))
		}
	}
	return x, y
}

// checkCounts compares the turns that the program counted as sent with the requests that
// each target received, for lives that ended normally. Turns that are in flight in the last
// scrape were sent, and no others start after it.
func (s *soak) checkCounts() check {
	c := check{Name: "turns: client = server", Bound: "equal for each kept target, over each life that ended by SIGTERM; turns that the program cut short itself may be counted on one side only", OK: true, Open: true}
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

// receivedAfter returns how many requests a deployment had received at the end of a life.
func (s *soak) receivedAfter(life, deployment int) int {
	if life+1 < len(s.program.lives) {
		return s.program.lives[life+1].before[deployment]
	}
	return s.set.fleet[deployment].count()
}

// checkFalsePages finds pages that no fault explains.
func (s *soak) checkFalsePages(pages []page) check {
	var wrong []string
	paged := 0
	for _, p := range pages {
		if p.Severity != "page" {
			continue
		}
		paged++
		if !s.explains(p.Target, p.Starts) {
			wrong = append(wrong, fmt.Sprintf("at %.0f s %s", p.Starts, p.Labels))
		}
	}
	return check{Name: "no page without a fault", Bound: "each page names a target and starts during a fault of it or at most 15 minutes later",
		Seen: fmt.Sprintf("%d pages, %d without a fault; a page would have been one in %.0f %% of the targets' time%s", paged, len(wrong), 100*s.unexplained(), listed(wrong)), OK: len(wrong) == 0}
}

// explains reports whether a fault explains a page about a target at a time.
func (s *soak) explains(target string, at float64) bool {
	return slices.ContainsFunc(s.plan.Spells, func(f spell) bool {
		return f.Target == target && at >= f.FromSec && at <= f.ToSec+pageLag
	})
}

// unexplained is the share of the time of the targets in which no fault explains a page.
func (s *soak) unexplained() float64 {
	const step = 10 // seconds
	free, all := 0, 0
	for _, d := range s.set.fleet {
		for at := 0.0; at < s.lasted(); at += step {
			if all++; !s.explains(d.name, at) {
				free++
			}
		}
	}
	return float64(free) / float64(max(1, all))
}

// checkMissedPages finds outages without a page, among those that ended before the run.
func (s *soak) checkMissedPages(pages []page) check {
	var missed []string
	late, outages := 0.0, 0
	for _, f := range s.plan.Spells {
		if !f.Outage || f.ToSec > s.lasted() {
			continue
		}
		outages++
		// An outage right after another does not start a new page while the old one is
		// kept.
		i := slices.IndexFunc(pages, func(p page) bool {
			return p.Alert == "SyntheticTargetDown" && p.Target == f.Target && p.Arrived <= f.ToSec && p.Ends >= f.FromSec
		})
		if i < 0 {
			missed = append(missed, f.String())
			continue
		}
		late = max(late, pages[i].Arrived-f.FromSec)
	}
	return check{Name: "a page for each outage", Bound: "SyntheticTargetDown reaches the Alertmanager during the outage, or still fires from the previous outage",
		Seen: fmt.Sprintf("%d outages, the slowest page after %.0f s%s", outages, late, listed(missed)), OK: len(missed) == 0, Open: outages == 0}
}

// lasted is the length of the run in seconds.
func (s *soak) lasted() float64 {
	if len(s.samples) == 0 {
		return 0
	}
	return s.samples[len(s.samples)-1].At
}

// checkReady finds moments when a running process was not ready.
func (s *soak) checkReady() check {
	missed, crowded := map[string]int{}, 0
	for _, current := range s.samples {
		switch {
		case current.Ready:
		case current.Crowded:
			crowded++
		default:
			missed[current.Missed]++
		}
	}
	var wrong []string
	for why, n := range missed {
		wrong = append(wrong, fmt.Sprintf("%d times %s", n, why))
	}
	slices.Sort(wrong)
	return check{Name: "ready while probing", Bound: "/-/ready and /metrics answer in each sample, except while many clients request pages", Seen: fmt.Sprintf("%d samples, %d of them refused while many clients requested pages%s", len(s.samples), crowded, listed(wrong)), OK: len(wrong) == 0 && len(s.samples) > 0}
}

func (s *soak) checkAlarms() check {
	all := s.program.alarms
	return check{Name: "no panic, no key in any output, each normal end", Bound: "none in log, pages, metrics and alerts", Seen: fmt.Sprintf("%d%s", len(all), listed(all)), OK: len(all) == 0}
}

func listed(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all[:min(5, len(all))], "; ")
}
