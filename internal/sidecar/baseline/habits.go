package baseline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// Habit is a rise of a job that is expected again, and does not page then unless it is higher than before.
type Habit struct {
	// ID names the habit within its job, such as "sun-0200". It is "" for a declared window.
	ID string `json:"id,omitempty"`
	// When is the weekday or working day and the time, on the clock of the target: "every Sunday 02:00–04:00".
	When string `json:"when"`
	// Ratio is the height of the rise, compared with the overall level, of the turn and the signal that rise most.
	Turn   probe.TurnKind `json:"turn"`
	Signal sink.Signal    `json:"signal"`
	Ratio  float64        `json:"ratio"`
	// Since is the start of the rise that made it a habit; zero for a declared window. Next is when it begins next.
	Since time.Time `json:"not_paged_since,omitzero"`
	Next  time.Time `json:"next"`

	expectation
}

// Habits returns the habits of a job, the next one first: learned ones and the weekly windows of its changes.
func (t *Tracker) Habits(key probe.Key) []Habit {
	j := t.lock(key)
	if j == nil {
		return nil
	}
	defer j.mu.Unlock()
	at := j.wall(t.options.Now())
	j.pass(at)
	all := append(j.habits(), j.declared(at)...)
	slices.SortStableFunc(all, func(a, b Habit) int { return a.Next.Compare(b.Next) })
	return all
}

// habits returns the learned habits. Expectations of several signals, and of several rises on one day, are one
// habit if their periods overlap.
func (j *job) habits() (out []Habit) {
	for k := range j.series {
		for i := range j.series[k] {
			for _, e := range j.series[k][i].calendar.expected {
				if e.To >= j.minute {
					out = append(out, Habit{Turn: probe.TurnKinds()[k], Signal: sink.Signals()[i], expectation: e})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Habit) int { return cmp.Compare(a.From, b.From) })
	merged := out[:0]
	for _, h := range out {
		if i := slices.IndexFunc(merged, h.repeats); i >= 0 {
			merged[i].merge(h)
		} else {
			merged = append(merged, h)
		}
	}
	for i := range merged {
		merged[i].describe(j.zone())
	}
	return merged
}

func (j *job) zone() *time.Location { return j.series[0][0].zone }

// sameKind reports whether both repeat by weeks, or both in the same way by months.
func (r repetition) sameKind(other repetition) bool {
	return r == other || r.Days > 0 && other.Days > 0
}

// weeksLater returns by how many minutes h is later than other, in whole weeks. Fortnights count as weeks.
func (h Habit) weeksLater(other Habit) int64 {
	if h.every.Days == 0 {
		return 0
	}
	return int64(math.Round(float64(h.From-other.From)/weekMinutes)) * weekMinutes
}

const weekMinutes = 7 * 24 * 60

// repeats reports whether h is part of the habit other: one day can be a day and a working day of a month.
func (h Habit) repeats(other Habit) bool {
	later := int64(0)
	if h.every.sameKind(other.every) {
		later = h.weeksLater(other)
	}
	return h.From-later <= other.To && h.To-later >= other.From
}

// merge adds a part to the habit, which has the earlier start.
func (h *Habit) merge(part Habit) {
	later := part.weeksLater(*h)
	h.From, h.To = min(h.From, part.From-later), max(h.To, part.To-later)
	if part.every.Days > 0 {
		h.every.Days = min(h.every.Days, part.every.Days)
	}
	h.expectation.Since = min(h.expectation.Since, part.expectation.Since)
	if part.Height > h.Height {
		h.Height, h.Turn, h.Signal = part.Height, part.Turn, part.Signal
	}
}

// describe computes the exported fields from the expectation.
func (h *Habit) describe(zone *time.Location) {
	begin, end := minuteTime(h.From+punctual, zone).Round(rounded), minuteTime(h.To-punctual, zone).Round(rounded)
	h.Ratio, h.Next, h.Since = math.Exp(h.Height), begin, minuteTime(h.expectation.Since, zone)
	day := begin.Weekday().String()
	words, id := "every "+day, day[:3]
	switch n := h.every.WorkingDay; {
	case h.every.Monthly:
		words, id = fmt.Sprintf("day %d of each month", begin.Day()), fmt.Sprintf("day-%d", begin.Day())
	case n != 0:
		name := [...]string{"third last", "second last", "last", "", "first", "second", "third"}[n+monthDays]
		words, id = "the "+name+" working day of each month", name
	case h.every.Days > 7:
		words = "every second " + day
	}
	h.When = words + " " + hours(begin, end)
	h.ID = strings.ToLower(strings.ReplaceAll(id, " ", "-")) + begin.Format("-1504")
}

// rounded is the precision of the times of habits.
const rounded = 15 * time.Minute

// hours returns the time of day of a period, with the time zone if it is not UTC.
func hours(begin, end time.Time) string {
	text := begin.Format("15:04–") + end.Format("15:04")
	if zone := begin.Location().String(); zone != "UTC" {
		text += " " + zone
	}
	return text
}

// declared returns the weekly windows of the job's changes, each with the level that it may reach without a page.
func (j *job) declared(at time.Time) (out []Habit) {
	for _, c := range j.changes {
		if !c.Weekly {
			continue
		}
		local := minuteTime(minuteOf(at), c.Location)
		begin, end := c.Window(local)
		if !at.Before(end) {
			local = local.AddDate(0, 0, 7)
			begin, end = c.Window(local)
		}
		begin, end = begin.In(local.Location()), end.In(local.Location())
		h := Habit{When: "every " + begin.Weekday().String() + " " + hours(begin, end), Next: begin}
		for k := range j.series {
			for i := range j.series[k] {
				s := &j.series[k][i]
				if height := s.calendar.declaredHeight(c, local); s.baseline != nil && height >= h.Height {
					h.Height, h.Turn, h.Signal = height, probe.TurnKinds()[k], sink.Signals()[i]
				}
			}
		}
		h.Ratio = math.Exp(h.Height)
		out = append(out, h)
	}
	return out
}

// Text describes the habit in one line.
func (h Habit) Text() string {
	date := func(t time.Time) string { return t.Format(time.DateOnly) }
	if h.ID == "" {
		return fmt.Sprintf("%s: declared in changes, pages only above ×%.1f; next %s", h.When, h.Ratio, date(h.Next))
	}
	return fmt.Sprintf("%s: ×%.1f (%s of %s turns), not paged since %s; next %s", h.When, h.Ratio, h.Signal, h.Turn, date(h.Since), date(h.Next))
}

// Rejection is what Reject did to a job.
type Rejection struct {
	Key probe.Key
	// Habit is the rejected habit, nil if the job has none of that ID. Others are its other habits with an ID.
	Habit  *Habit
	Others []Habit
}

// Reject takes a habit of a target's jobs back, by its ID: its next repetition pages, and so do all that follow
// without a gap of two weeks, or of a month. An empty workload means all jobs of the target.
func (t *Tracker) Reject(target, workload, id string) (out []Rejection) {
	now := t.options.Now()
	for _, j := range t.sorted() {
		if j.key.Target == target && (workload == "" || j.key.Workload == workload) {
			j.mu.Lock()
			j.pass(j.wall(now))
			out = append(out, j.reject(id))
			j.mu.Unlock()
		}
	}
	return out
}

func (j *job) reject(id string) Rejection {
	r := Rejection{Key: j.key}
	for _, h := range j.habits() {
		if h.ID != id {
			r.Others = append(r.Others, h)
			continue
		}
		r.Habit = &h
		for s := range j.all() {
			s.reject(h)
		}
	}
	return r
}

// reject forgets what the calendar and the baseline learned of a habit in earlier repetitions.
func (s *series) reject(h Habit) {
	c := &s.calendar
	c.expected = slices.DeleteFunc(c.expected, func(e expectation) bool { return Habit{expectation: e}.repeats(h) })
	from, length := minuteTime(h.From+punctual, s.zone), h.To-h.From-2*punctual
	for n := -1; ; n-- {
		begin := minuteOf(h.every.after(from, n)) // the end can lie in another month
		past := rise{From: begin, To: begin + length, Height: h.Height, Rejected: true}
		if past.To < s.minute-rememberedDays*24*60 {
			break
		}
		c.rises = append(slices.DeleteFunc(c.rises, past.overlaps), past)
		if s.baseline != nil {
			s.baseline.each(numberOf(minuteTime(past.From, nil))-1, numberOf(minuteTime(past.To, nil)), (*entry).exclude)
		}
	}
	slices.SortFunc(c.rises, func(a, b rise) int { return cmp.Compare(a.From, b.From) })
	s.baseline.in(s.zone)
	s.limited = 0
}
