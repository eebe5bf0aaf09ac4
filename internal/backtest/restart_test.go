package backtest

import (
	"net/http"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/backfill"
	"synthetic/internal/sidecar/metrics"
)

func restarted(r Restart) *Simulation {
	m := Quiet()
	m.ConversationsPerMinute = 1
	return NewSimulation(SimulationOptions{
		Deployments: []Deployment{{Target: Target, Model: m, Seed: 1}}, SLOs: Objectives(),
		Start: epoch(), Length: 4 * day, Restart: r,
	})
}

// TestRestartKeepsWhatItSays: a prober that is restarted daily has the history of
// all days with its state or a Prometheus, and begins anew without.
func TestRestartKeepsWhatItSays(t *testing.T) {
	days := map[Restart]float64{}
	for _, r := range append(Restarts(), RestartNever) {
		s := restarted(r)
		if err := s.WarmUp(4 * day); err != nil {
			t.Fatal(err)
		}
		families, err := s.recorder.Only(func(family string) bool { return family == metrics.RegressionHistory }).Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.Metric {
				days[r] = max(days[r], m.GetGauge().GetValue()/day.Seconds())
			}
		}
	}
	if days[RestartNever] < 2 {
		t.Errorf("the history of four days has %.2f days", days[RestartNever])
	}
	for _, r := range []Restart{RestartState, RestartPrometheus} {
		if days[r] < 0.9*days[RestartNever] {
			t.Errorf("with %s the history has %.2f days, without restarts %.2f", r, days[r], days[RestartNever])
		}
	}
	if days[RestartNothing] > 1 {
		t.Errorf("with nothing the history has %.2f days", days[RestartNothing])
	}
}

// TestPastIsReadBack: what the reader of production makes of the simulated
// Prometheus is what was measured, restarts in between included.
func TestPastIsReadBack(t *testing.T) {
	s := restarted(RestartPrometheus)
	if err := s.WarmUp(2 * day); err != nil {
		t.Fatal(err)
	}
	reader, err := backfill.New("http://prometheus", nil, &http.Client{Transport: s.past})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	got, err := reader.Read(t.Context(), probe.Key{Target: Target, Workload: Workload}, s.now)
	if err != nil {
		t.Fatal(err)
	}
	for kind := range probe.TurnKinds() {
		turns, before := 0.0, time.Time{}
		for _, m := range got[backfill.Series{Kind: kind}] {
			if !m.At.After(before) {
				t.Fatalf("minutes out of order: %s after %s", m.At, before)
			}
			turns, before = turns+m.Turns, m.At
		}
		// A conversation a minute, of one first turn and two to four more.
		if want := float64(2880 * (1 + 2*kind)); turns < 0.9*want || turns > 1.1*want {
			t.Errorf("kind %d: %.0f turns were read back, want about %.0f", kind, turns, want)
		}
	}
}

// TestRestartTimes: a restart a day, in order.
func TestRestartTimes(t *testing.T) {
	all := restarted(RestartNothing).restarts
	if len(all) != 4 {
		t.Fatalf("%d restarts in four days", len(all))
	}
	for i, at := range all {
		if at < time.Duration(i)*day || at >= time.Duration(i+1)*day {
			t.Errorf("restart %d at %s", i, at)
		}
	}
	if restarted(RestartNever).restarts != nil {
		t.Error("restarted although it is not to be")
	}
}
