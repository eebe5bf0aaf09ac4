package backtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
)

// Restart is what a prober has after a restart of what it knew before.
type Restart string

const (
	// RestartNever is a prober that is not restarted.
	RestartNever Restart = ""
	// RestartState is one with a state file.
	RestartState Restart = "state"
	// RestartPrometheus is one without, but with a Prometheus that has its series.
	RestartPrometheus Restart = "prometheus"
	// RestartNothing is one with neither.
	RestartNothing Restart = "nothing"
)

// Restarts lists those that restart.
func Restarts() []Restart { return []Restart{RestartState, RestartPrometheus, RestartNothing} }

// suffix is what the name of a world ends with.
func (r Restart) suffix() string {
	if r == RestartNever {
		return ""
	}
	return ", restarted daily with " + string(r)
}

// restartTakes is how long nothing is probed during a restart.
const restartTakes = 20 * time.Second

// restarts are the times at which a prober ends, in order.
type restarts []time.Duration

// newRestarts draws one for each day, at any time of it.
func newRestarts(o SimulationOptions) restarts {
	if o.Restart == RestartNever {
		return nil
	}
	var all restarts
	rng := rand.New(rand.NewPCG(o.Deployments[0].Seed, 3))
	for at := time.Duration(0); at < o.Length; at += day {
		all = append(all, at+between(0, day-time.Hour)(rng))
	}
	return all
}

// due says that there is one until a time.
func (r restarts) due(to time.Duration) bool { return len(r) > 0 && r[0] <= to }

// next takes the next one.
func (r *restarts) next() time.Duration {
	at := (*r)[0]
	*r = (*r)[1:]
	return at
}

// restart lets another process take over: with what this one kept, without its
// counters, and without the turns that are under way.
func (s *Simulation) restart() error {
	kept, histories := s.recorder.Baselines(), maps.Collect(s.recorder.Histories())
	s.recorder = s.newRecorder()
	for _, t := range s.traffic {
		t.sink = s.recorder
		t.drop(s.now.Add(restartTakes).Sub(s.options.Start))
	}
	switch s.options.Restart {
	case RestartState:
		return s.restore(kept, histories)
	case RestartPrometheus:
		return s.past.tell(s.recorder)
	}
	return nil
}

// restore hands over what a state file, and the files of histories beside it,
// would hold.
func (s *Simulation) restore(kept regression.File, histories map[probe.Key][]byte) error {
	text, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	var read regression.File
	if err := json.Unmarshal(text, &read); err != nil {
		return fmt.Errorf("reading the state back: %w", err)
	}
	s.recorder.RestoreBaselines(read)
	s.recorder.RestoreHistories(histories)
	return nil
}
