package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// steps adds a sample of the series "level" every 30 seconds, with the value of the current step. Values last a minute.
type steps struct {
	values []float64
	at     time.Duration
}

func (s *steps) Advance(store *Store, to time.Time) error {
	for ; !epoch().Add(s.at).After(to); s.at += 30 * time.Second {
		store.Add(labels.FromStrings(model.MetricNameLabel, "level", "target", "a"), epoch().Add(s.at), s.values[min(int(s.at/time.Minute), len(s.values)-1)])
	}
	return nil
}

// TestReplay steps rules by hand: an alert, one with "for", one with "keep_firing_for", a record that a later group reads,
// and a record that reads its own last value.
func TestReplay(t *testing.T) {
	const text = `
groups:
  - name: minutes
    interval: 1m
    rules:
      - {record: double, expr: 2 * level}
      - {alert: High, expr: level > 1, labels: {severity: page}, annotations: {summary: '{{ $value }}'}}
      - {alert: Held, expr: level > 1, for: 2m, labels: {severity: page}}
      - {alert: Kept, expr: level > 1, keep_firing_for: 3m, labels: {severity: ticket}}
      - {record: latched, expr: level == 5 or latched}
      - {record: unread, expr: missing}
  - name: halves
    rules:
      - {alert: Double, expr: double > 9, labels: {severity: page}}
      - {alert: Latched, expr: latched > 0, labels: {severity: page}}
`
	r, err := Load([]byte(text), 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if r.store.Wants("missing") || !r.store.Wants("level") {
		t.Errorf("the rules read %v", r.store.keep)
	}
	// The first group is evaluated at half minutes, the second a quarter after each sample.
	spans, err := r.Replay(t.Context(), &steps{values: []float64{0, 2, 0, 2, 2, 5, 0, 0, 0, 0}}, epoch(), at(10))
	if err != nil {
		t.Fatal(err)
	}
	type fired struct {
		alert    string
		from, to float64
	}
	var got []fired
	for _, s := range spans {
		if s.Labels.Get("target") != "a" {
			t.Errorf("%s has the labels %s", s.Alert, s.Labels)
		}
		got = append(got, fired{s.Alert, s.From.Sub(epoch()).Minutes(), s.To.Sub(epoch()).Minutes()})
	}
	want := []fired{
		{"High", 1.5, 2.5}, {"Kept", 1.5, 9.5},
		{"High", 3.5, 6.5},
		{"Held", 5.5, 6.5}, {"Double", 5.75, 6.75}, {"Latched", 5.75, 10},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(fired{})); diff != "" {
		t.Errorf("alerts (-want +got):\n%s", diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"groups: [{name: g, rules: [{alert: A, expr: 'up =='}]}]":              "parse error",
		"groups: [{name: g, rules: [{alert: A, expr: '{job=\"a\"} > 0'}]}]":    "selects series without a name: name them",
		"groups: [{name: g, rules: [{alert: A, expr: 'up', severity: page}]}]": "severity",
	} {
		if _, err := Load([]byte(text), time.Minute); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
