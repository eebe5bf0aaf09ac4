package baseline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

	"synthetic/internal/atomicfile"
)

// stateVersion is the version of the state file. Other versions are refused.
const stateVersion = 2

// sumsLast is how long a page or ticket survives without a process. A regression continues
// while the prober restarts, and so does its page; but after hours without a measurement the
// state is unknown. The embedded pager also continues its alerts for one hour.
const sumsLast = time.Hour

// File is the content of the state file: what must survive a restart and changes every minute.
// The history holds what changes every half hour.
type File struct {
	Version int        `json:"version"`
	Jobs    []JobState `json:"jobs"`
}

// JobState is the current state of a job.
type JobState struct {
	Target   string `json:"target"`
	Workload string `json:"workload"`
	// wall time of the save
	Saved time.Time `json:"saved,omitzero"`
	// end of the last change that discarded the baselines
	Relearned time.Time `json:"relearned,omitzero"`
	// minute since which a ticket or page is up, 0 if neither is
	Asked  int64         `json:"asked,omitzero"`
	Series []seriesState `json:"series"`
	Usual  [kinds]means  `json:"usual"`
	// FirstCached holds the cached tokens of first turns.
	FirstCached firstCached `json:"first_cached,omitzero"`
}

// seriesState is the state of one kind of turn and signal, both by index. Counters are not
// saved: they start at 0 in a new process, as usual.
type seriesState struct {
	Kind   int     `json:"kind"`
	Signal int     `json:"signal"`
	Onset  onset   `json:"onset"`
	Page   verdict `json:"page"`
	Ticket verdict `json:"ticket"`
	// levels that the last ticket and the last page reported
	Told     reportedLevel `json:"told,omitzero"`
	ToldPage reportedLevel `json:"told_page,omitzero"`
	// Forgiven is the minute until which reported data is ignored.
	Forgiven int64    `json:"forgiven,omitzero"`
	Size     sizeLine `json:"size,omitzero"`
}

func (j *job) state(now time.Time) JobState {
	st := JobState{
		Target: j.key.Target, Workload: j.key.Workload, Saved: now.UTC().Round(0), Relearned: j.relearned, Asked: j.ticketSince,
		FirstCached: j.firstCached.copy(),
	}
	for k := range j.series {
		st.Usual[k] = j.parts[k].usual
		for i := range j.series[k] {
			s := &j.series[k][i]
			st.Series = append(st.Series, seriesState{
				Kind: k, Signal: i, Onset: s.onset, Page: s.page, Ticket: s.ticket,
				Told: s.ticketLevel, ToldPage: s.pageLevel, Forgiven: s.ignoredUntil, Size: s.size.copy(),
			})
		}
	}
	return st
}

// restore takes over the state of an earlier process. Pages and tickets older than an hour end.
// Implausible values are dropped.
func (j *job) restore(st JobState, now time.Time) {
	j.relearned, j.firstCached = st.Relearned, st.FirstCached.plausible()
	for k := range kinds {
		j.parts[k].usual = st.Usual[k].plausible()
	}
	for _, saved := range st.Series {
		if s := j.seriesOf(saved); s != nil {
			s.size = saved.Size.plausible()
		}
	}
	if st.Saved.IsZero() || now.Sub(st.Saved) > sumsLast {
		return // the clock has gone back since; that does not make it older
	}
	minute := minuteOf(now)
	j.ticketSince = min(st.Asked, minute)
	for _, saved := range st.Series {
		s := j.seriesOf(saved)
		if s == nil {
			continue
		}
		s.ticketLevel, s.pageLevel = saved.Told.plausible(), saved.ToldPage.plausible()
		s.ignoredUntil = min(saved.Forgiven, minute)
		if saved.Page.isPlausible() && saved.Ticket.isPlausible() {
			s.onset, s.page, s.ticket = saved.Onset.before(minute), saved.Page.before(minute), saved.Ticket.before(minute)
		}
	}
}

// seriesOf returns the series of a saved state, nil if there is none.
func (j *job) seriesOf(saved seriesState) *series {
	if saved.Kind < 0 || saved.Kind >= kinds || saved.Signal < 0 || saved.Signal >= signals {
		return nil
	}
	return &j.series[saved.Kind][saved.Signal]
}

func (h reportedLevel) plausible() reportedLevel {
	return reportedLevel{clampFinite(mostLog, h.Level), clampFinite(1, h.Tail)}
}

func (v *verdict) isPlausible() bool {
	return v.Limit >= 0 && v.Limit <= mostLog && v.Over >= -below && v.Over <= mostLog
}

// before returns the verdict with later minutes cut off, which another clock wrote.
func (v verdict) before(minute int64) verdict {
	v.Began, v.Seen = min(v.Began, minute), min(v.Seen, minute)
	return v
}

// before returns the onset with a later start cut off, and without an implausible height.
func (o onset) before(minute int64) onset {
	if o.Since < minute-historyMinutes {
		return onset{}
	}
	o.Since, o.Began, o.Seen, o.Height = min(o.Since, minute), min(o.Began, minute), min(o.Seen, minute), clampFinite(clip, o.Height)
	return o
}

// WriteFile replaces the state file atomically.
func (f File) WriteFile(path string) error {
	f.Version = stateVersion
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("writing the state as JSON: %w", err)
	}
	if err := atomicfile.Write(path, text, 0o600); err != nil {
		return fmt.Errorf("saving the state: %w", err)
	}
	return nil
}

// ReadFile reads a state file. A missing file is empty.
func ReadFile(path string) (File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{Version: stateVersion}, nil
	}
	if err != nil {
		return File{}, fmt.Errorf("reading the state: %w", err)
	}
	var f File
	if err := atomicfile.ParseJSON(text, &f); err != nil {
		return File{}, fmt.Errorf("reading the state from %q: %w; delete the file to start learning again", path, err)
	}
	if f.Version != stateVersion {
		return File{}, fmt.Errorf("the state in %q is of version %d, this binary reads %d; delete the file to start learning again", path, f.Version, stateVersion)
	}
	return f, nil
}

// Bounds of the numbers in a state file. A number beyond them comes from a damaged file; values
// computed from it would overflow and could not be saved again.
const (
	// mostLog bounds logarithms of seconds. The logarithms of 1 µs and of 292 years, the
	// longest time.Duration, are -14 and 23.
	mostLog = 32
	// mostTurns bounds numbers of turns, mostSeconds means of seconds and of tokens.
	mostTurns, mostSeconds = 1e12, 1e9
	// earliest and latest bound times, in seconds since 1970. earliest leaves room for windows
	// and seasons before it; latest is about 500 years.
	earliest, latest = 30 * 86400, 1 << 34
)

// clampFinite returns v if it is between 0 and most, or else 0.
func clampFinite(most, v float64) float64 {
	if v >= 0 && v <= most {
		return v
	}
	return 0
}

func (e entry) isPlausible() bool {
	return plausibleTime(startOf(e.number).Unix()) && e.n() > 0 && math.Abs(float64(e.mean)) <= mostLog && e.variance >= 0 && e.variance <= mostLog*mostLog &&
		e.bad >= 0 && e.bad <= 1
}

func plausibleTime(seconds int64) bool { return seconds >= earliest && seconds < latest }

func (m means) plausible() means {
	for _, v := range []float64{m.Connect, m.TTFT, m.TPOT, m.Output} {
		if !(v >= 0 && v <= mostSeconds) {
			return means{}
		}
	}
	m.Turns = clampFinite(mostTurns, m.Turns)
	return m
}
