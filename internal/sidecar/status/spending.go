package status

import (
	"fmt"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
)

type spending struct {
	// Measured extrapolates the use of the last Span to a day; nil in the first minute. Turns
	// without usage count with their output tokens only.
	Measured *dailyUse `json:"measured_per_day"`
	Span     Duration  `json:"span_seconds"`
	// Expected follows from the configuration; nil if it does not determine the use.
	Expected *dailyUse `json:"expected_per_day"`
}

// dailyUse is the use of one day in tokens and, if they have a price, in money.
type dailyUse struct {
	Prompt float64  `json:"prompt_tokens"`
	Cached float64  `json:"cached_prompt_tokens"`
	Output float64  `json:"output_tokens"`
	Cost   *float64 `json:"cost,omitempty"`
}

// leastSpan is the shortest period that is extrapolated to a day.
const leastSpan = time.Minute

func dayOf(t workload.Tokens, p *workload.Price) *dailyUse {
	d := &dailyUse{Prompt: t.Prompt, Cached: t.Cached, Output: t.Output}
	if p != nil {
		cost := p.Cost(t)
		d.Cost = &cost
	}
	return d
}

// spent holds the tokens of the last hours.
type spent struct {
	since time.Time
	hours [24]struct {
		hour int64 // since 1970
		workload.Tokens
	}
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

func (s *spent) add(t time.Time, tokens workload.Tokens) {
	hour := hourOf(t)
	at := &s.hours[uint64(hour)%uint64(len(s.hours))]
	if at.hour != hour {
		at.hour, at.Tokens = hour, workload.Tokens{}
	}
	at.Tokens = at.Plus(tokens)
}

// perDay extrapolates the last span to a day.
func (s *spent) perDay(now time.Time) (day workload.Tokens, span time.Duration) {
	oldest := hourOf(now) - int64(len(s.hours)) + 1
	for _, h := range s.hours {
		if h.hour >= oldest {
			day = day.Plus(h.Tokens)
		}
	}
	from := time.Unix(oldest*3600, 0)
	if s.since.After(from) {
		from = s.since
	}
	if span = now.Sub(from); span < leastSpan {
		return workload.Tokens{}, span
	}
	return day.Times(float64(24*time.Hour) / float64(span)), span
}

func (s *spent) spending(info sink.Job, now time.Time) (out spending) {
	day, span := s.perDay(now)
	out.Span = Duration(probe.Some(span))
	if span >= leastSpan {
		out.Measured = dayOf(day, info.Price)
	}
	if f := info.Footprint; f.Day.Sum() > 0 {
		out.Expected = dayOf(f.Day.Plus(f.Bursts), info.Price)
	}
	return out
}

// sumSpending adds the spending of several jobs. A value that one job lacks is missing in the
// sum.
func sumSpending(jobs []Job) (all spending) {
	for i, j := range jobs {
		if i == 0 {
			all = j.Spending
			continue
		}
		all.Measured, all.Expected = all.Measured.plus(j.Spending.Measured), all.Expected.plus(j.Spending.Expected)
		all.Span.V = min(all.Span.V, j.Spending.Span.V)
	}
	return all
}

func (d *dailyUse) plus(o *dailyUse) *dailyUse {
	if d == nil || o == nil {
		return nil
	}
	sum := &dailyUse{Prompt: d.Prompt + o.Prompt, Cached: d.Cached + o.Cached, Output: d.Output + o.Output}
	if d.Cost != nil && o.Cost != nil {
		cost := *d.Cost + *o.Cost
		sum.Cost = &cost
	}
	return sum
}

// Title returns the measured number of tokens if any, else the expected one.
func (s spending) Title() string {
	for _, d := range []*dailyUse{s.Measured, s.Expected} {
		if d != nil {
			return workload.Amount(d.Prompt + d.Output)
		}
	}
	return "n/a"
}

// Lines describes the measured and the expected use.
func (s spending) Lines() (out []string) {
	if s.Measured != nil {
		out = append(out, "measured over "+s.Span.String()+": "+s.Measured.String())
	}
	if s.Expected != nil {
		out = append(out, "expected at most: "+s.Expected.String())
	}
	return out
}

func (d *dailyUse) String() string {
	text := fmt.Sprintf("%s prompt (%s cached), %s output", workload.Amount(d.Prompt), workload.Amount(d.Cached), workload.Amount(d.Output))
	if d.Cost != nil {
		text += fmt.Sprintf(", for %.2f", *d.Cost)
	}
	return text
}
