package backtest

import (
	"net/http"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/backfill"
)

func restarted(r Restart) *Simulation {
	m := Quiet()
	m.ConversationsPerMinute = 1
	return NewSimulation(SimulationOptions{
		Deployments: []Deployment{{Target: Target, Model: m, Seed: 1}}, SLOs: Objectives(),
		Start: epoch(), Length: 4 * day, Restart: r,
	})
}

// TestRestartKeepsWhatItSays: a prober that is restarted daily learns on with its
// state, and begins anew without.
func TestRestartKeepsWhatItSays(t *testing.T) {
	entries := map[Restart]int{}
	for _, r := range append(Restarts(), RestartNever) {
		s := restarted(r)
		if err := s.WarmUp(4 * day); err != nil {
			t.Fatal(err)
		}
		for _, job := range s.recorder.Baselines().Jobs {
			for _, series := range job.Series {
				for _, slot := range series.Slots {
					entries[r] += len(slot.Entries)
				}
			}
		}
	}
	if entries[RestartState] < entries[RestartNever]*9/10 || entries[RestartState] == 0 {
		t.Errorf("with state there are %d entries of baselines, without restarts %d", entries[RestartState], entries[RestartNever])
	}
	if entries[RestartNothing] > entries[RestartNever]/2 {
		t.Errorf("with nothing there are %d entries of baselines, without restarts %d", entries[RestartNothing], entries[RestartNever])
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
