package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/sidecar/cause"
)

// stateVersion is the version of the state file. Other versions are refused.
const stateVersion = 4

// sumsLast is how long a page or ticket survives without a process: a regression continues while the prober restarts, but
// after hours without a measurement it is unknown.
const sumsLast = time.Hour

// File is the content of the state file: what must survive a restart and changes every minute. The history holds what
// changes every half hour.
type File struct {
	Version int        `json:"version"`
	Jobs    []JobState `json:"jobs"`
}

// JobState is the current state of a job.
type JobState struct {
	Target   string `json:"target"`
	Workload string `json:"workload"`
	// Saved is the wall time of the save, Relearned the end of the last change that discarded what was usual.
	Saved     time.Time                `json:"saved,omitzero"`
	Relearned time.Time                `json:"relearned,omitzero"`
	Signals   [signalCount]signalState `json:"signals"`
	Usual     [kinds]cause.Means       `json:"usual"`
	Cached    [kinds]cached            `json:"cached"`
}

type signalState struct {
	Classes map[int]class `json:"classes,omitempty"`
	reports
	Told told `json:"told,omitzero"`
	// Third is the usual lower third, and Minutes those that it is known from.
	Third   float64 `json:"third,omitzero"`
	Minutes float64 `json:"minutes,omitzero"`
}

func (j *job) state(now time.Time) JobState {
	st := JobState{
		Target: j.key.Target, Workload: j.key.Workload, Saved: now.UTC().Round(0),
		Relearned: j.relearned, Cached: j.cached,
	}
	for k := range j.parts {
		st.Usual[k] = j.parts[k].Means()
	}
	for i := range j.signals {
		s := &j.signals[i]
		out := signalState{
			Classes: map[int]class{}, reports: s.reports, Told: s.minutes.told,
			Third: s.most.usual, Minutes: s.most.minutes,
		}
		for n, c := range s.classes {
			if c.Turns > 0 {
				out.Classes[n] = c
			}
		}
		st.Signals[i] = out
	}
	return st
}

// restore takes over the state of an earlier process. Pages and tickets older than an hour end, and a state whose minutes
// are in the future was written by another clock.
func (j *job) restore(st JobState, now time.Time) {
	j.relearned = st.Relearned
	for k := range j.parts {
		j.parts[k].Restore(st.Usual[k])
		if c := st.Cached[k]; c.Turns >= 0 && c.Turns <= mostCached && c.Share >= 0 && c.Share <= 1 {
			c.recent = c.Share
			j.cached[k] = c
		}
	}
	current := !st.Saved.IsZero() && now.Sub(st.Saved) <= sumsLast
	minute := minuteOf(now)
	for i, saved := range st.Signals {
		s := &j.signals[i]
		for n, c := range saved.Classes {
			if n >= 0 && n < classCount && c.Turns > 0 && finite(float64(c.Mean)) {
				s.classes[n] = c
			}
		}
		if finite(saved.Third) && saved.Minutes >= 0 && saved.Minutes <= mostMinutes {
			s.most.usual, s.most.minutes = saved.Third, saved.Minutes
		}
		if !saved.fits(minute) {
			continue
		}
		s.minutes.told = saved.Told // its own rule ends it
		if current {
			s.reports = saved.reports
			s.Page.Seen, s.Ticket.Seen = minute, minute // the time without a process is no silence
			s.refill()
			s.restored = minute
		}
	}
}

func (st *signalState) fits(minute int64) bool {
	told := st.Told
	return st.Page.fits(minute) && st.Ticket.fits(minute) && within(minute, told.Since, told.Cleared) && finite(told.Rise)
}

func (v *verdict) fits(minute int64) bool {
	d := &v.Decision
	return within(minute, v.Seen, d.Minute, d.Began) && finite(d.Limit.Value)
}

// within reports whether times are from 1970 to a minute.
func within(minute int64, times ...int64) bool {
	return slices.Min(times) >= 0 && slices.Max(times) <= minute
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
