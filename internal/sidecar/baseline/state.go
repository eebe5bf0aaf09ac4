package baseline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"synthetic/internal/atomicfile"
)

// stateVersion is the version of the state file. Other versions are refused, except version 1,
// whose jobs learn again.
const stateVersion = 2

// sumsLast is how long a page or ticket survives without a process. A restart of the prober
// does not end a regression, so its page continues; but after hours without a measurement the
// state is unknown. The embedded pager also continues its alerts for one hour.
const sumsLast = time.Hour

// File is the content of the state file: what must survive a restart and changes every minute.
// Job.History holds what changes every half hour.
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
	// minute since which a ticket or page is up, 0 if none is
	Asked  int64         `json:"asked,omitzero"`
	Series []SeriesState `json:"series"`
	Usual  [kinds]means  `json:"usual"`
}

// SeriesState is the state of one kind of turn and signal, both by index. Counters are not
// saved: they start at 0 in a new process, as usual.
type SeriesState struct {
	Kind   int     `json:"kind"`
	Signal int     `json:"signal"`
	Onset  onset   `json:"onset"`
	Page   verdict `json:"page"`
	Ticket verdict `json:"ticket"`
	// levels that the last ticket and the last page reported
	Told     reportedLevel `json:"told,omitzero"`
	ToldPage reportedLevel `json:"told_page,omitzero"`
	// Quiet is the minute until which only a clearly new level pages, Forgiven the minute until
	// which reported data is ignored.
	Quiet    int64 `json:"quiet,omitzero"`
	Forgiven int64 `json:"forgiven,omitzero"`
}

// State returns the current state of the job.
func (j *Job) State(target, workload string, now time.Time) JobState {
	st := JobState{Target: target, Workload: workload, Saved: now.UTC().Round(0), Relearned: j.relearned, Asked: j.ticketSince}
	for k := range j.series {
		st.Usual[k] = j.parts[k].usual
		for i := range j.series[k] {
			s := &j.series[k][i]
			st.Series = append(st.Series, SeriesState{
				Kind: k, Signal: i, Onset: s.onset, Page: s.page, Ticket: s.ticket,
				Told: s.ticketLevel, ToldPage: s.pageLevel, Quiet: s.quiet, Forgiven: s.ignoredUntil,
			})
		}
	}
	return st
}

// Restore takes over the state of an earlier process. Pages and tickets older than an hour end.
// Implausible values are dropped.
func (j *Job) Restore(st JobState, now time.Time) {
	j.relearned = st.Relearned
	for k := range kinds {
		j.parts[k].usual = st.Usual[k].fitting()
	}
	if st.Saved.IsZero() || now.Sub(st.Saved) > sumsLast {
		return // the clock has gone back since; that does not make it older
	}
	minute := minuteOf(now)
	j.ticketSince = min(st.Asked, minute)
	for _, one := range st.Series {
		if one.Kind < 0 || one.Kind >= kinds || one.Signal < 0 || one.Signal >= signals {
			continue
		}
		s := &j.series[one.Kind][one.Signal]
		s.ticketLevel, s.pageLevel = one.Told.fitting(), one.ToldPage.fitting()
		s.quiet, s.ignoredUntil = min(one.Quiet, minute+quietMinutes), min(one.Forgiven, minute)
		if one.Page.fits() && one.Ticket.fits() {
			s.onset, s.page, s.ticket = onset{min(one.Onset.Since, minute)}, one.Page.by(minute), one.Ticket.by(minute)
		}
	}
}

// fitting returns h with implausible values removed.
func (h reportedLevel) fitting() reportedLevel {
	return reportedLevel{clampFinite(mostLog, h.Level), clampFinite(1, h.Tail)}
}

// fits reports whether the verdict is plausible.
func (v *verdict) fits() bool {
	return v.Limit >= 0 && v.Limit <= mostLog && v.Over >= -below && v.Over <= mostLog
}

// by returns the verdict with later minutes cut off, which another clock wrote.
func (v verdict) by(minute int64) verdict {
	v.Began, v.Seen = min(v.Began, minute), min(v.Seen, minute)
	return v
}

// WriteFile replaces the state file atomically.
func (f File) WriteFile(path string) error {
	f.Version = stateVersion
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("writing the state as JSON: %w", err)
	}
	if err := atomicfile.Write(path, text, 0o600); err != nil {
		return fmt.Errorf("saving the state: %w; the directory must be writable", err)
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
	var version struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(text, &version) == nil && version.Version == 1 {
		return File{Version: stateVersion}, nil
	}
	var f File
	if err := json.Unmarshal(text, &f); err != nil {
		return File{}, fmt.Errorf("reading the state from %q: %w; delete the file to learn anew", path, err)
	}
	if f.Version != stateVersion {
		return File{}, fmt.Errorf("the state in %q is of version %d, this binary reads %d; delete the file to learn anew", path, f.Version, stateVersion)
	}
	return f, nil
}
