// Package review counts the turns, objectives and tokens of each day, keeps them for 90 days, and puts them together with
// the incidents into a report for the people who look back.
package review

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// Kept is the number of days that are kept. mostDays bounds the days of all jobs together, of about 1 kB each:
// enough for 555 jobs.
const (
	Kept     = 90
	mostDays = 50_000
)

// MostBytes bounds the file of the days. All days fit in half of it, because a full file is replaced by half as
// much at most.
const MostBytes = 2 * mostDays * 1200

// Day counts the turns of a job that were sent on one day in UTC.
type Day struct {
	Date     string `json:"date,omitempty"` // 2026-03-01; "" for the sum of several days
	Target   string `json:"target"`
	Workload string `json:"workload"`
	// Turns and Failed leave out turns that the prober ended.
	Turns  int             `json:"turns"`
	Failed int             `json:"failed"`
	Tokens workload.Tokens `json:"tokens"`
	// Cost is the price of the tokens, 0 without a price.
	Cost       float64     `json:"cost,omitempty"`
	Objectives []Objective `json:"objectives,omitempty"`
	// TTFT and TPOT are empty in days of older versions.
	TTFT Counts `json:"ttft,omitempty"`
	TPOT Counts `json:"tpot,omitempty"`
}

// Objective counts the turns that an objective judged.
type Objective struct {
	Name string `json:"name"`
	// Wanted is the share of good turns.
	Wanted float64 `json:"wanted"`
	Judged int     `json:"judged"`
	Bad    int     `json:"bad"`
	// Threshold is the largest good value; 0 for availability, and in days of older versions.
	// PerThousand is added for every 1,000 uncached tokens.
	Threshold   time.Duration `json:"threshold,omitempty"`
	PerThousand time.Duration `json:"per_1k_uncached_tokens,omitempty"`
	// Hours has the 24 hours of the day in UTC for a latency objective; nil in sums and in days that are older
	// than lookedAtDays.
	Hours []HourTurns `json:"hours,omitempty"`
}

// DateOf returns the day of a time, as in Day.Date.
func DateOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Count adds a turn.
func (d *Day) Count(r probe.Result, objectives []slo.Objective, price *workload.Price) {
	if !r.Outcome.Own() {
		d.Turns++
		if r.Outcome.Failed() {
			d.Failed++
		}
	}
	d.TTFT.count(r, slo.TTFT)
	d.TPOT.count(r, slo.TPOT)
	tokens := workload.Tokens{Prompt: float64(r.PromptTokens.V), Cached: float64(r.CachedTokens.V), Output: float64(r.OutputTokens.V)}
	d.Tokens = d.Tokens.Plus(tokens)
	if price != nil {
		d.Cost += price.Cost(tokens)
	}
	for _, o := range objectives {
		if v := o.Judge(&r); v != slo.NotJudged {
			counts := d.add(Objective{Name: o.Name, Wanted: o.Objective, Judged: 1, Bad: badTurns(v), Threshold: o.Threshold, PerThousand: o.PerThousand})
			if o.SLI.HasThreshold() {
				counts.countHour(r.End, v == slo.Bad && !r.Outcome.Failed())
			}
		}
	}
}

func badTurns(v slo.Judgement) int {
	if v == slo.Bad {
		return 1
	}
	return 0
}

// add adds the counts of an objective, without its hours. The hours of another definition are dropped.
func (d *Day) add(o Objective) *Objective {
	at := slices.IndexFunc(d.Objectives, func(have Objective) bool { return have.Name == o.Name })
	if at < 0 {
		at = len(d.Objectives)
		d.Objectives = append(d.Objectives, Objective{Name: o.Name, Wanted: o.Wanted, Threshold: o.Threshold, PerThousand: o.PerThousand})
	}
	have := &d.Objectives[at]
	if have.Wanted != o.Wanted || have.Threshold != o.Threshold || have.PerThousand != o.PerThousand {
		have.Wanted, have.Threshold, have.PerThousand, have.Hours = o.Wanted, o.Threshold, o.PerThousand, nil
	}
	have.Judged, have.Bad = have.Judged+o.Judged, have.Bad+o.Bad
	return have
}

// Sum returns the sum of the days of each job, sorted by target and workload.
func Sum(days []Day) []Day {
	sums := map[probe.Key]*Day{}
	for _, d := range days {
		key := probe.Key{Target: d.Target, Workload: d.Workload}
		sum := sums[key]
		if sum == nil {
			sum = &Day{Target: d.Target, Workload: d.Workload}
			sums[key] = sum
		}
		sum.Turns, sum.Failed, sum.Cost = sum.Turns+d.Turns, sum.Failed+d.Failed, sum.Cost+d.Cost
		sum.Tokens = sum.Tokens.Plus(d.Tokens)
		for _, o := range d.Objectives {
			sum.add(o)
		}
	}
	var out []Day
	for _, sum := range sums {
		out = append(out, *sum)
	}
	slices.SortFunc(out, func(a, b Day) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Workload, b.Workload))
	})
	return out
}

// Counter is a sink that counts turns by day. It is safe for concurrent use. Use NewCounter.
type Counter struct {
	mu      sync.Mutex
	jobs    map[probe.Key]sink.Job
	days    map[dayKey]*Day
	unsaved map[dayKey]bool
	missed  missedCache
}

type dayKey struct {
	date string
	job  probe.Key
}

var _ sink.Sink = (*Counter)(nil)

func NewCounter() *Counter {
	return &Counter{jobs: map[probe.Key]sink.Job{}, days: map[dayKey]*Day{}, unsaved: map[dayKey]bool{}}
}

// Add implements sink.Sink.
func (c *Counter) Add(j sink.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs[j.Key()] = j
	delete(c.missed.jobs, j.Key())
}

// Remove implements sink.Sink. The days of the job are kept.
func (c *Counter) Remove(job probe.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.jobs, job)
}

// Observe implements sink.Sink.
func (c *Counter) Observe(e probe.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j := c.jobs[e.Key()]
	var end time.Time
	switch e := e.(type) {
	case probe.Result:
		end = e.End
	default:
		return
	}
	key := dayKey{DateOf(end), e.Key()}
	d := c.days[key]
	if d == nil {
		d = &Day{Date: key.date, Target: key.job.Target, Workload: key.job.Workload}
		c.days[key] = d
		c.forget(end)
	}
	c.unsaved[key] = true
	d.Count(e.(probe.Result), j.Objectives, j.Price)
	if key.date < DateOf(c.missed.hour) {
		delete(c.missed.jobs, key.job)
	}
}

// forget drops old days, the oldest above the limit, and hours that no decision reads. The caller holds mu.
func (c *Counter) forget(now time.Time) {
	oldest := DateOf(now.AddDate(0, 0, -Kept+1))
	if len(c.days) > mostDays {
		dates := slices.Sorted(func(yield func(string) bool) {
			for key := range c.days {
				if !yield(key.date) {
					return
				}
			}
		})
		oldest = max(oldest, dates[len(dates)-mostDays])
	}
	hours := DateOf(now.AddDate(0, 0, -lookedAtDays))
	maps.DeleteFunc(c.days, func(key dayKey, d *Day) bool {
		for i := range d.Objectives {
			if key.date < hours {
				d.Objectives[i].Hours = nil
			}
		}
		return key.date < oldest
	})
}

// Days returns the days from a date on, oldest first.
func (c *Counter) Days(from string) (out []Day) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, d := range c.days {
		if key.date >= from {
			copied := *d
			copied.Objectives, copied.TTFT, copied.TPOT = slices.Clone(d.Objectives), slices.Clone(d.TTFT), slices.Clone(d.TPOT)
			for i, o := range copied.Objectives {
				copied.Objectives[i].Hours = slices.Clone(o.Hours)
			}
			out = append(out, copied)
		}
	}
	slices.SortFunc(out, func(a, b Day) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Workload, b.Workload))
	})
	return out
}

// Save returns a line of JSON for each day that has changed since the last call or, with all, for each day, oldest
// first.
func (c *Counter) Save(all bool) []byte {
	days := c.Days("")
	c.mu.Lock()
	defer c.mu.Unlock()
	var out bytes.Buffer
	for _, d := range days {
		if key := (dayKey{d.Date, probe.Key{Target: d.Target, Workload: d.Workload}}); all || c.unsaved[key] {
			_ = json.NewEncoder(&out).Encode(d) // it has no values that JSON has not
		}
	}
	clear(c.unsaved)
	return out.Bytes()
}

// Restore takes over the days of earlier processes from lines of Save. The last line of a day is valid. It skips lines
// that it cannot read, and returns an error that names the first.
func (c *Counter) Restore(text []byte, now time.Time) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	number := 0
	for line := range bytes.Lines(text) {
		number++
		d := &Day{}
		if bad := json.Unmarshal(line, d); bad != nil || d.Date == "" {
			err = cmp.Or(err, fmt.Errorf("line %d has no day: %.100q", number, line))
			continue
		}
		c.days[dayKey{d.Date, probe.Key{Target: d.Target, Workload: d.Workload}}] = d
	}
	c.forget(now)
	return err
}
