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

// stateVersion is that of the state file; a file of another one is refused, but
// for version 1, whose jobs are learned anew.
const stateVersion = 2

// sumsLast is how long a page or a ticket holds while no process runs. A regression
// does not end because its prober is restarted, so its page must go on; but of a
// deployment that was not looked at for hours nothing is known. An hour is for how
// long the embedded pager goes on with its alerts.
const sumsLast = time.Hour

// File is the content of a state file: what must survive a restart and changes by
// the minute. What changes by the half hour is in Job.History.
type File struct {
	Version int        `json:"version"`
	Jobs    []JobState `json:"jobs"`
}

// JobState is what a job knows of its present.
type JobState struct {
	Target   string `json:"target"`
	Workload string `json:"workload"`
	// Saved is the wall time of saving.
	Saved time.Time `json:"saved,omitzero"`
	// Relearned is the end of the last change that was learned anew.
	Relearned time.Time `json:"relearned,omitzero"`
	// Asked is the minute since which there is a ticket or a page, 0 for none.
	Asked  int64         `json:"asked,omitzero"`
	Series []SeriesState `json:"series"`
	Usual  [kinds]means  `json:"usual"`
}

// SeriesState is one signal of one kind of turn, both by index. Counters are
// not kept: they start at 0 in a new process, as those of all programs do.
type SeriesState struct {
	Kind   int     `json:"kind"`
	Signal int     `json:"signal"`
	Onset  onset   `json:"onset"`
	Page   verdict `json:"page"`
	Ticket verdict `json:"ticket"`
	// Told is what a ticket has told of, ToldPage what a page has.
	Told     heard `json:"told,omitzero"`
	ToldPage heard `json:"told_page,omitzero"`
	// Quiet is the minute up to which only what is clearly new is a page, Forgiven
	// that up to which the scan says nothing of what was told.
	Quiet    int64 `json:"quiet,omitzero"`
	Forgiven int64 `json:"forgiven,omitzero"`
}

// State returns what the job knows of its present, saved now.
func (j *Job) State(target, workload string, now time.Time) JobState {
	st := JobState{Target: target, Workload: workload, Saved: now.UTC().Round(0), Relearned: j.relearned, Asked: j.ticketSince}
	for k := range j.series {
		st.Usual[k] = j.parts[k].usual
		for i := range j.series[k] {
			s := &j.series[k][i]
			st.Series = append(st.Series, SeriesState{
				Kind: k, Signal: i, Onset: s.onset, Page: s.page, Ticket: s.ticket,
				Told: s.known, ToldPage: s.knownPage, Quiet: s.quiet, Forgiven: s.forgiven,
			})
		}
	}
	return st
}

// Restore takes over what an earlier process knew of its present. Pages and tickets
// of more than an hour ago are over. What does not fit is left out.
func (j *Job) Restore(st JobState, now time.Time) {
	j.relearned = st.Relearned
	for k := range kinds {
		j.parts[k].usual = st.Usual[k].fitting()
	}
	if st.Saved.IsZero() || now.Sub(st.Saved) > sumsLast {
		return // a clock that went back since does not make it so
	}
	minute := minuteOf(now)
	j.ticketSince = min(st.Asked, minute)
	for _, one := range st.Series {
		if one.Kind < 0 || one.Kind >= kinds || one.Signal < 0 || one.Signal >= signals {
			continue
		}
		s := &j.series[one.Kind][one.Signal]
		s.known, s.knownPage = one.Told.fitting(), one.ToldPage.fitting()
		s.quiet, s.forgiven = min(one.Quiet, minute+quietMinutes), min(one.Forgiven, minute)
		if one.Page.fits() && one.Ticket.fits() {
			s.onset, s.page, s.ticket = onset{min(one.Onset.Since, minute)}, one.Page.by(minute), one.Ticket.by(minute)
		}
	}
}

// fitting is what can have been told of.
func (h heard) fitting() heard { return heard{clampFinite(mostLog, h.Level), clampFinite(1, h.Tail)} }

// fits says that a verdict can have been one.
func (v *verdict) fits() bool {
	return v.Limit >= 0 && v.Limit <= mostLog && v.Over >= -below && v.Over <= mostLog
}

// by is the verdict as of a minute: what comes later was said by another clock.
func (v verdict) by(minute int64) verdict {
	v.Began, v.Seen = min(v.Began, minute), min(v.Seen, minute)
	return v
}

// WriteFile replaces a state file: whatever happens, the old one or the new
// one is there, whole.
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

// ReadFile reads a state file. One that does not exist is empty.
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
