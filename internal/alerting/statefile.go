package alerting

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/atomicfile"
)

// stateFileName is the file of alert states in the pager's directory.
const stateFileName = "alerts.json"

// outageTolerance is the longest downtime of a process after which its alerts continue.
const outageTolerance = time.Hour

// savedStates is the content of the file of alert states. Times are wall times, except Clock:
// the pager's clock at SavedAt, as in stored samples.
type savedStates struct {
	Version int           `json:"version"`
	SavedAt time.Time     `json:"saved_at"`
	Clock   time.Time     `json:"clock,omitzero"`
	Alerts  []*alertState `json:"alerts"`
}

// resumed returns what the pager's clock would show now if it had continued. It is unknown
// after a downtime longer than outageTolerance, or if the wall clock went back.
func (f savedStates) resumed(wall time.Time) (at time.Time, known bool) {
	away := wall.Sub(f.SavedAt)
	if f.Clock.IsZero() || away < 0 || away > outageTolerance {
		return time.Time{}, false
	}
	return f.Clock.Add(away), true
}

const stateVersion = 1

func (s *alertStates) save(dir string) error {
	data, err := json.Marshal(s.snapshot())
	if err != nil {
		return fmt.Errorf("encoding the alerts: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(dir, stateFileName), data, 0o600); err != nil {
		return fmt.Errorf("saving the alerts: %w", err)
	}
	return nil
}

func (s *alertStates) snapshot() savedStates {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := savedStates{Version: stateVersion, SavedAt: s.clock.wall(), Clock: s.clock.now(), Alerts: []*alertState{}}
	step := s.clock.step()
	for _, r := range s.byID {
		out.Alerts = append(out.Alerts, r.shifted(step))
	}
	return out
}

// readStates reads saved states; none without a file or directory.
func readStates(dir string) (savedStates, error) {
	if dir == "" {
		return savedStates{}, nil
	}
	path := filepath.Join(dir, stateFileName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return savedStates{}, nil
	}
	if err != nil {
		return savedStates{}, fmt.Errorf("reading the saved alerts: %w", err)
	}
	var saved savedStates
	if err := atomicfile.ParseJSON(data, &saved); err != nil {
		return savedStates{}, fmt.Errorf("reading the saved alerts in %q: %w; remove the file to start without them", path, err)
	}
	if saved.Version != stateVersion {
		return savedStates{}, fmt.Errorf("%q has version %d, not %d; remove it to start without the saved alerts", path, saved.Version, stateVersion)
	}
	// A null in the file is ignored.
	saved.Alerts = slices.DeleteFunc(saved.Alerts, func(r *alertState) bool { return r == nil })
	return saved, nil
}

// restore continues the alerts that an earlier process saved. timing has the interval of each
// rule group and the time of its last evaluation.
func (s *alertStates) restore(saved savedStates, timing func(alert string) (alertTiming, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	step := s.clock.step()
	for _, r := range saved.Alerts {
		r = r.shifted(-step)
		if r.firing() {
			r.validUntil = s.validUntil(r, saved.SavedAt, timing)
		}
		s.byID[r.Labels.Hash()] = r
	}
}

// hold keeps alerts firing while their rules are not evaluated, as after a restart.
func (s *alertStates) hold(timing func(alert string) (alertTiming, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.byID {
		if r.firing() {
			r.validUntil = s.validUntil(r, s.clock.wall(), timing)
		}
	}
}

// validUntil returns until when an alert of an earlier process fires without its rule. The rule
// needs a few evaluations to report the alert again. It does not report an alert that fires only
// because of keep_firing_for, so such an alert fires until that time has passed.
func (s *alertStates) validUntil(r *alertState, saved time.Time, timing func(alert string) (alertTiming, bool)) time.Time {
	now := s.clock.now()
	t, known := timing(r.Labels.Get(labels.AlertName))
	if !known || s.clock.wall().Sub(saved) > outageTolerance {
		return now
	}
	kept := now.Add(t.keep)
	if !r.KeptSince.IsZero() {
		kept = r.KeptSince.Add(t.keep)
	}
	return slices.MaxFunc([]time.Time{kept, now.Add(4 * t.interval)}, time.Time.Compare)
}
