package regression

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"synthetic/internal/atomicfile"
)

// stateVersion is that of the state file; a file of another one is refused.
const stateVersion = 1

// sumsLast is how long sums hold while no process runs. A regression does not end
// because its prober is restarted, so its page must go on; but of a deployment
// that was not looked at for hours nothing is known, and a sum at its limit would
// page before a turn was slow. An hour is what the recent level of a step fades
// in, and for how long the embedded pager goes on with its alerts.
const sumsLast = time.Hour

// File is the content of a state file: what must survive a restart.
type File struct {
	Version int        `json:"version"`
	Jobs    []JobState `json:"jobs"`
}

// JobState is what a job knows.
type JobState struct {
	Target   string `json:"target"`
	Workload string `json:"workload"`
	// Saved is the wall time of saving; zero in files that do not have it, whose
	// sums are taken for old.
	Saved time.Time `json:"saved,omitzero"`
	// Relearned is the end of the last change that was learned anew.
	Relearned time.Time     `json:"relearned,omitzero"`
	Series    []SeriesState `json:"series"`
	Cached    []SlotState   `json:"cached,omitempty"`
	Usual     [kinds]means  `json:"usual"`
}

// SeriesState is one signal of one kind of turn, both by index. Counters are
// not kept: they start at 0 in a new process, as those of all programs do.
type SeriesState struct {
	Kind   int       `json:"kind"`
	Signal int       `json:"signal"`
	Cusum  float64   `json:"cusum"`
	Gap    float64   `json:"gap_minutes"`
	Step   StepState `json:"step"`
	// Below are the deviations that the noise of the level is taken from.
	Below  deviations  `json:"below"`
	Anchor *float64    `json:"anchor,omitempty"`
	Slots  []SlotState `json:"slots"`
}

// SlotState are the entries of one half hour of the day, the oldest first.
type SlotState struct {
	Kind    int     `json:"kind,omitempty"`
	Slot    int     `json:"slot"`
	Entries []Entry `json:"entries"`
}

// State returns what the job knows, saved now.
func (j *Job) State(target, workload string, now time.Time) JobState {
	st := JobState{Target: target, Workload: workload, Saved: now.UTC().Round(0), Relearned: j.relearned}
	for k := range j.series {
		st.Usual[k] = j.parts[k].usual
		for i := range j.series[k] {
			s := &j.series[k][i]
			if s.baseline == nil {
				continue
			}
			one := SeriesState{Kind: k, Signal: i, Cusum: s.cusum.sum, Gap: s.cusum.gap,
				Step: s.step.StepState, Below: s.baseline.below, Slots: s.baseline.state(0)}
			if a := s.baseline.anchor; !math.IsInf(a, 1) {
				one.Anchor = &a
			}
			st.Series = append(st.Series, one)
		}
		if b := j.cached[k].baseline; b != nil {
			st.Cached = append(st.Cached, b.state(k)...)
		}
	}
	return st
}

// Restore takes over what an earlier process knew. Baselines are kept however
// old they are; sums of more than an hour ago begin at 0. What does not fit is
// left out: a new baseline is better than a wrong one.
func (j *Job) Restore(st JobState, now time.Time) {
	j.relearned = st.Relearned
	// A clock that went back since does not make them so.
	outdated := st.Saved.IsZero() || now.Sub(st.Saved) > sumsLast
	for _, one := range st.Series {
		if one.Kind < 0 || one.Kind >= kinds || one.Signal < 0 || one.Signal >= signals {
			continue
		}
		if outdated { // but for how often turns come, on which the limits depend
			one.Cusum, one.Step = 0, StepState{Gap: one.Step.Gap}
		}
		s := &j.series[one.Kind][one.Signal]
		s.baseline = restored(one)
		s.cusum = cusum{sum: upTo(mostMinutes, one.Cusum), gap: upTo(mostMinutes, one.Gap)}
		s.step = step{StepState: one.Step.fitting()}
	}
	for k := range kinds {
		j.parts[k].usual = st.Usual[k].fitting()
		of := slices.DeleteFunc(slices.Clone(st.Cached), func(s SlotState) bool { return s.Kind != k })
		if len(of) > 0 {
			j.cached[k].baseline = restored(SeriesState{Slots: of})
		}
	}
}

func (b *baseline) state(kind int) []SlotState {
	var out []SlotState
	for i, s := range b.slots {
		if len(s) > 0 {
			out = append(out, SlotState{Kind: kind, Slot: i, Entries: slices.Clone(s)})
		}
	}
	return out
}

// restored is a baseline with the entries that fit.
func restored(st SeriesState) *baseline {
	b := newBaseline()
	if a := st.Anchor; a != nil && math.Abs(*a) <= mostLog {
		b.anchor = *a
	}
	if st.Below.fits() {
		b.below = st.Below
	}
	for _, s := range st.Slots {
		if s.Slot < 0 || s.Slot >= slots {
			continue
		}
		for _, e := range s.Entries {
			if e.fits() {
				b.slots[s.Slot].add(e)
				b.blocks++
			}
		}
	}
	if b.blocks > 0 {
		b.derive()
	}
	return b
}

// WriteFile replaces a state file: whatever happens, the old one or the new
// one is there, whole.
func (f File) WriteFile(path string) error {
	f.Version = stateVersion
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("writing the baselines as JSON: %w", err)
	}
	if err := atomicfile.Write(path, text, 0o600); err != nil {
		return fmt.Errorf("saving the baselines: %w; the directory must be writable", err)
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
		return File{}, fmt.Errorf("reading the baselines: %w", err)
	}
	var f File
	if err := json.Unmarshal(text, &f); err != nil {
		return File{}, fmt.Errorf("reading the baselines from %q: %w; delete the file to learn anew", path, err)
	}
	if f.Version != stateVersion {
		return File{}, fmt.Errorf("the baselines in %q are of version %d, this binary reads %d; delete the file to learn anew", path, f.Version, stateVersion)
	}
	return f, nil
}
