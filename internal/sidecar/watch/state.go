package watch

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/sidecar/cause"
)

// stateVersion is the version of the state file. Other versions are refused.
const stateVersion = 6

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
	Saved     time.Time            `json:"saved,omitzero"`
	Relearned time.Time            `json:"relearned,omitzero"`
	Signals   [signalCount]current `json:"signals"`
	Usual     [kinds]cause.Means   `json:"usual"`
}

func (j *job) state(now time.Time) JobState {
	st := JobState{Target: j.key.Target, Workload: j.key.Workload, Saved: now.UTC().Round(0), Relearned: j.relearned}
	for k := range j.parts {
		st.Usual[k] = j.parts[k].Means()
	}
	for i, s := range j.signals {
		st.Signals[i] = s.current
		st.Signals[i].Classes = maps.Clone(s.Classes)
	}
	return st
}

// restore takes over the state of an earlier process. Pages and tickets older than an hour end. So does what a process saw
// whose clock was more than an hour ahead.
func (j *job) restore(st JobState, now time.Time) {
	j.relearned = st.Relearned
	for k := range j.parts {
		j.parts[k].Restore(st.Usual[k])
	}
	age, minute := now.Sub(st.Saved), minuteOf(now)
	for i, saved := range st.Signals {
		s := j.signals[i]
		s.Classes = saved.Classes
		if age < -time.Hour {
			continue
		}
		s.Minutes.Told = saved.Minutes.Told.until(minute) // its own rule ends it
		if age <= time.Hour {                             // a regression continues while the prober restarts; after hours it is unknown
			s.reports = reports{saved.Page.until(minute), saved.Ticket.until(minute)}
			s.refill()
			s.restored = minute
		}
	}
}

// until moves times that lie after a minute to that minute. They do if the clock was set back during a restart.
func (t told) until(minute int64) told {
	t.Cleared = min(t.Cleared, minute)
	return t
}

// until does the same for a verdict. The time without a process is no silence.
func (v verdict) until(minute int64) verdict {
	v.Seen, v.Decision.Minute, v.Decision.Began = minute, min(v.Decision.Minute, minute), min(v.Decision.Began, minute)
	return v
}

// archive is the history of a job.
type archive struct {
	Relearned time.Time
	Signals   [signalCount]past
}

func (j *job) archive() ([]byte, error) {
	a := archive{Relearned: j.relearned}
	for i, s := range j.signals {
		a.Signals[i] = s.past
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(a); err != nil {
		return nil, fmt.Errorf("encoding the history: %w", err)
	}
	return out.Bytes(), nil
}

// restoreArchive takes over what an earlier process archived. If it cannot be decoded, nothing changes.
func (j *job) restoreArchive(data []byte) error {
	var a archive
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&a); err != nil {
		return fmt.Errorf("it is damaged, or no history of this version: %w", err)
	}
	for i, saved := range a.Signals {
		s := j.signals[i]
		saved.Usual.zone, saved.Usual.apart = s.Usual.zone, s.Usual.apart
		s.past = saved
		s.Usual.rederive()
		s.refill()
	}
	j.relearned = a.Relearned // if it was saved before the last relearn, that one is due again
	return nil
}

// refill restores the newest minutes from the history.
func (s *signal) refill() {
	s.Minutes = minutes{Told: s.Minutes.Told}
	if !s.Usual.started() {
		return
	}
	for minute, v := range s.History.since(s.History.last() - ringMinutes + 1) {
		x := min(max(v.mean-s.Usual.at(middleOf(minute)), -clip), clip)
		s.Minutes.put(minute, v.turns, x, 0)
	}
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
