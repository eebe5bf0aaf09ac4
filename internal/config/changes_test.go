package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/fleet"
)

// TestTimezone checks that the time zone of a target or group replaces the zone of the file, and that
// weekly windows are on this clock.
func TestTimezone(t *testing.T) {
	cfg, err := Parse("synthetic.yml", []byte(`
timezone: Europe/Berlin
targets: [{name: a, base_url: "http://a"}, {name: b, base_url: "http://b", timezone: America/Los_Angeles}]
discovery:
  - {name: g, dns_sd_configs: [{names: [x], type: A, port: 80}], target: {timezone: Asia/Tokyo}}
  - {name: h, dns_sd_configs: [{names: [y], type: A, port: 80}]}
changes: [{weekly: sunday 02:00 2h}]
`), "")
	if err != nil {
		t.Fatal(err)
	}
	summer := time.Date(2026, 7, 5, 0, 0, 0, 0, time.UTC) // a Sunday
	for i, want := range []struct {
		zone  string
		start time.Time
	}{
		{"Europe/Berlin", summer}, {"America/Los_Angeles", summer.Add(9 * time.Hour)},
		{"Asia/Tokyo", summer.Add(-7 * time.Hour)}, {"Europe/Berlin", summer},
	} {
		j := cfg.Jobs[i]
		if got := j.Location.String(); got != want.zone {
			t.Errorf("%s: zone %s, want %s", j.Target.Name, got, want.zone)
		}
		if w := j.Changes[0]; w.Covers(want.start.Add(-1)) || !w.Covers(want.start) || !w.Covers(want.start.Add(2*time.Hour-1)) || w.Covers(want.start.Add(2*time.Hour)) {
			t.Errorf("%s: the window is not the two hours from %s", j.Target.Name, want.start)
		}
	}
	if cfg, err = Parse("", []byte(exampleTargets), ""); err != nil || cfg.Jobs[0].Location != nil {
		t.Errorf("without timezone: %v, error %v", cfg.Jobs[0].Location, err)
	}
}

func TestChanges(t *testing.T) {
	cfg, err := Parse("synthetic.yml", []byte(`
targets: [{name: a, base_url: "http://a"}, {name: b, base_url: "http://b"}]
changes:
  - {targets: [a], start: 2026-12-01T10:00:00Z, end: "2026-12-01T12:30:00+01:00", relearn: true}
  - weekly: tuesday 23:30 2h
`), "")
	if err != nil {
		t.Fatal(err)
	}
	once := fleet.Change{
		From: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC), To: time.Date(2026, 12, 1, 11, 30, 0, 0, time.UTC), Relearn: true,
	}
	from := time.Date(1970, 1, 6, 23, 30, 0, 0, time.UTC)
	weekly := fleet.Change{From: from, To: from.Add(2 * time.Hour), Weekly: true}
	if from.Weekday() != time.Tuesday {
		t.Fatalf("the sixth of January 1970 was a %s", from.Weekday())
	}
	for i, want := range [][]fleet.Change{{once, weekly}, {weekly}} {
		if diff := cmp.Diff(want, cfg.Jobs[i].Changes); diff != "" {
			t.Errorf("windows of %s (-want +got):\n%s", cfg.Jobs[i].Target.Name, diff)
		}
	}
}
