package alerting

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// ledgerFile is where the ledger lies within the pager's directory.
const ledgerFile = "alerts.json"

// outage is how long a process may have been away for its alerts to go on.
const outage = time.Hour

// keptLedger is the ledger as a file. Its times are of the wall clock, but for
// Clock: that is what the pager's own showed at SavedAt, and what the stored
// samples carry.
type keptLedger struct {
	Version int          `json:"version"`
	SavedAt time.Time    `json:"saved_at"`
	Clock   time.Time    `json:"clock,omitzero"`
	Alerts  []keptRecord `json:"alerts"`
}

// resumed is what the pager's clock would show now if it had run on. It is
// unknown if it stood for longer than alerts go on, or if the wall clock shows
// an earlier time than it did then.
func (k keptLedger) resumed(wall time.Time) (at time.Time, known bool) {
	away := wall.Sub(k.SavedAt)
	if k.Clock.IsZero() || away < 0 || away > outage {
		return time.Time{}, false
	}
	return k.Clock.Add(away), true
}

type keptRecord struct {
	Labels      labels.Labels           `json:"labels"`
	Annotations labels.Labels           `json:"annotations"`
	StartsAt    time.Time               `json:"starts_at"`
	EndsAt      time.Time               `json:"ends_at,omitzero"`
	KeptSince   time.Time               `json:"kept_since,omitzero"`
	Delivered   map[string]keptDelivery `json:"delivered"`
}

type keptDelivery struct {
	At       time.Time `json:"at"`
	FiringAt time.Time `json:"firing_at,omitzero"`
	Over     bool      `json:"over"`
}

const keptVersion = 1

// save writes the ledger: under its final name only once it is whole.
func (l *ledger) save(dir string) error {
	data, err := json.Marshal(l.keep())
	if err != nil {
		return fmt.Errorf("encoding the alerts: %w", err)
	}
	path := filepath.Join(dir, ledgerFile)
	err = writeSynced(path+".tmp", data)
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		return fmt.Errorf("saving the alerts: %w", err)
	}
	return nil
}

// writeSynced writes a file that is on the disk when it returns: one that takes
// the place of a good one must not be empty after a power cut.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func (l *ledger) keep() keptLedger {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.clock
	out := keptLedger{Version: keptVersion, SavedAt: c.wall(), Clock: c.now(), Alerts: []keptRecord{}}
	for _, r := range l.records {
		k := keptRecord{
			Labels: r.labels, Annotations: r.annotations,
			StartsAt: c.toWall(r.startsAt), EndsAt: c.toWall(r.endsAt), KeptSince: c.toWall(r.keptSince),
			Delivered: map[string]keptDelivery{},
		}
		for url, d := range r.delivered {
			k.Delivered[url] = keptDelivery{c.toWall(d.at), c.toWall(d.firingAt), d.over}
		}
		out.Alerts = append(out.Alerts, k)
	}
	return out
}

// readLedger reads the ledger of an earlier process; it is empty if there is
// none, or no directory.
func readLedger(dir string) (keptLedger, error) {
	if dir == "" {
		return keptLedger{}, nil
	}
	path := filepath.Join(dir, ledgerFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return keptLedger{}, nil
	}
	if err != nil {
		return keptLedger{}, fmt.Errorf("reading the alerts of before: %w", err)
	}
	var kept keptLedger
	if err := json.Unmarshal(data, &kept); err != nil {
		return keptLedger{}, fmt.Errorf("reading the alerts of before in %q: %w; remove the file to start without them", path, err)
	}
	if kept.Version != keptVersion {
		return keptLedger{}, fmt.Errorf("%q has version %d, not %d; remove it to start without the alerts of before", path, kept.Version, keptVersion)
	}
	return kept, nil
}

// goOn goes on with the alerts of an earlier process. patience says how long an
// alert may wait for its rule to speak of it again.
func (l *ledger) goOn(kept keptLedger, patience func(alert string) (patience, bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range kept.Alerts {
		r := l.restore(k)
		if r.firing() {
			r.validUntil = l.waitFor(r, kept.SavedAt, patience)
		}
		l.records[r.labels.Hash()] = r
	}
}

func (l *ledger) restore(k keptRecord) *record {
	c := l.clock
	r := &record{
		labels: k.Labels, annotations: k.Annotations,
		startsAt: c.fromWall(k.StartsAt), endsAt: c.fromWall(k.EndsAt), keptSince: c.fromWall(k.KeptSince),
		delivered: map[string]delivery{},
	}
	for url, d := range k.Delivered {
		r.delivered[url] = delivery{at: c.fromWall(d.At), firingAt: c.fromWall(d.FiringAt), over: d.Over}
	}
	return r
}

// waitFor is until when an alert of before goes on by itself. Its rule needs a
// few evaluations to find it again; one that was only kept firing, the rule
// has forgotten, and it is kept to its end here.
func (l *ledger) waitFor(r *record, saved time.Time, patience func(alert string) (patience, bool)) time.Time {
	now := l.clock.now()
	p, known := patience(r.labels.Get(labels.AlertName))
	if !known || l.clock.wall().Sub(saved) > outage {
		return now
	}
	kept := now.Add(p.keep)
	if !r.keptSince.IsZero() {
		kept = r.keptSince.Add(p.keep)
	}
	if again := now.Add(4 * p.interval); again.After(kept) {
		return again
	}
	return kept
}
