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

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"

	"synthetic/internal/atomicfile"
)

// stateFileName is the file of alert states in the pager's directory.
const stateFileName = "alerts.json"

// damagedSuffix is added to the name of a state file that cannot be read.
const damagedSuffix = ".damaged"

// outageTolerance is the longest downtime of a process after which its alerts continue.
const outageTolerance = time.Hour

// disk is the pager's directory.
type disk struct {
	lock *atomicfile.Lock // nil until the directory is locked
	// unreadable is true until a state file that could not be read at the start is renamed.
	unreadable bool
	saves      chan chan struct{} // each is closed after a save
}

type activeAlert struct {
	Labels labels.Labels `json:"labels"`
	Since  time.Time     `json:"since"`
}

// refillRounds is for how many rounds an alert of an earlier process fires at least: its rule needs new samples.
const refillRounds = 20

// savedStates is the content of the file of alert states. Times are wall times.
type savedStates struct {
	SavedAt time.Time     `json:"saved_at"`
	Alerts  []*alertState `json:"alerts"`
	// Active are the pending and firing alerts of the rules, which continue their "for".
	Active []activeAlert `json:"active"`
}

// readStates reads saved states; none without a file.
func readStates(dir string) (saved savedStates, err error) {
	path := filepath.Join(dir, stateFileName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return saved, nil
	}
	if err != nil {
		return saved, fmt.Errorf("reading the saved alerts: %w", err)
	}
	if err := atomicfile.ParseJSON(data, &saved); err != nil {
		return saved, fmt.Errorf("reading the saved alerts in %q: %w", path, err)
	}
	saved.Alerts = slices.DeleteFunc(saved.Alerts, func(r *alertState) bool { return r == nil })
	return saved, nil
}

// restore continues the alerts of an earlier process.
func (p *Pager) restore(saved savedStates) {
	now := p.clock.now()
	away := now.Sub(saved.SavedAt)
	continues := away >= 0 && away <= outageTolerance
	for _, r := range saved.Alerts {
		if continues && r.firing() {
			r.validUntil = p.keptUntil(r, now)
		}
		p.states.byID[r.Labels.Hash()] = r
	}
	for _, a := range saved.Active {
		if continues {
			// Prometheus' rules read this series to restore the time that an alert has waited.
			name := labels.NewBuilder(a.Labels).Set(model.MetricNameLabel, "ALERTS_FOR_STATE").Labels()
			_ = p.memory.get(name).append(saved.SavedAt.UnixMilli(), float64(a.Since.Unix())) // fails for a repeated alert only
		}
	}
}

// keptUntil returns until when an alert of an earlier process fires without a report of its rule; the zero time if it
// has no rule any more. A rule does not report an alert that fires only because of keep_firing_for.
func (p *Pager) keptUntil(r *alertState, now time.Time) (until time.Time) {
	since := now
	if !r.KeptSince.IsZero() {
		since = r.KeptSince
	}
	for _, g := range p.Groups() {
		for _, rule := range g.AlertingRules() {
			if rule.Name() == r.Labels.Get(labels.AlertName) {
				refilled := now.Add(max(refillRounds*p.options.Interval, 4*g.Interval()))
				until = slices.MaxFunc([]time.Time{until, since.Add(rule.KeepFiringFor()), refilled}, time.Time.Compare)
			}
		}
	}
	return until
}

// save saves the states if there is a directory, which it creates if needed.
func (p *Pager) save() error {
	if p.options.Dir == "" {
		return nil
	}
	if err := p.claim(); err != nil {
		return err
	}
	if path := filepath.Join(p.options.Dir, stateFileName); p.disk.unreadable {
		if err := os.Rename(path, path+damagedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("keeping the alerts that could not be read: %w; remove the file", err)
		}
		p.disk.unreadable = false
	}
	out := savedStates{SavedAt: p.clock.wall(), Alerts: p.states.snapshot(), Active: []activeAlert{}}
	for _, g := range p.rules.Load().groups {
		for _, r := range g.AlertingRules() {
			r.ForEachActiveAlert(func(a *rules.Alert) {
				if a.ResolvedAt.IsZero() {
					out.Active = append(out.Active, activeAlert{a.Labels, p.clock.toWall(a.ActiveAt)})
				}
			})
		}
	}
	data, err := json.Marshal(out)
	if err == nil {
		err = atomicfile.Write(filepath.Join(p.options.Dir, stateFileName), data, 0o600)
	}
	return err
}

// claim creates the directory if it is missing, and locks it once.
func (p *Pager) claim() (err error) {
	if err := os.MkdirAll(p.options.Dir, 0o755); err != nil {
		return fmt.Errorf("creating the pager's directory: %w; set alerting.directory to a writable directory", err)
	}
	if p.disk.lock != nil {
		return nil
	}
	if p.disk.lock, err = atomicfile.LockDir(p.options.Dir); err != nil {
		return fmt.Errorf("alerting.directory: %w", err)
	}
	return nil
}
