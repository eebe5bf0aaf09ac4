package load

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

const (
	modelTimeout = 10 * time.Second
	// modelPause and modelPauseMax bound the pause between attempts while the model is unknown.
	// The maximum is short, because every conversation fails until the model is known.
	modelPause, modelPauseMax = time.Second, 5 * time.Second
	// modelRecheck is the minimum time between attempts after a 404.
	modelRecheck = 10 * time.Second
)

// model is the model name of a target: the configured one or the discovered one. While it is
// unknown the name is empty, and conversations run nevertheless, so that an outage is measured.
type model struct {
	name atomic.Pointer[string]
	// firstAnswer is closed after the first attempt, successful or not.
	firstAnswer chan struct{}
	// refused receives a value when an answer has status 404.
	refused chan struct{}
}

// discoverModel asks for the model until it is known, and again after each 404. It does nothing
// for a configured model.
func (r *runner) discoverModel() {
	configured := r.job.Target.Model != ""
	found := configured || r.askModel(slog.LevelWarn)
	close(r.model.firstAnswer)
	retry := newBackoff(workload.Hash(r.key.Target), modelPause, modelPauseMax)
	for !found && Pause(r.startsCtx, retry.next()) {
		found = r.askModel(slog.LevelDebug)
	}
	for level := slog.LevelWarn; !configured && await(r.startsCtx, r.model.refused, nil); {
		// One warning per outage is enough.
		if r.askModel(level) {
			level = slog.LevelWarn
		} else {
			level = slog.LevelDebug
		}
		if !Pause(r.startsCtx, modelRecheck) {
			return
		}
	}
}

// askModel asks once. If that fails, it keeps the previous name and logs the error at level.
func (r *runner) askModel(level slog.Level) bool {
	ctx, cancel := context.WithTimeout(r.startsCtx, modelTimeout)
	defer cancel()
	name, err := r.prober.Model(ctx)
	if r.startsCtx.Err() != nil {
		return false // the job has ended
	}
	if err != nil || name == "" {
		r.Logger.Log(ctx, level, "cannot discover the model; set model in the target to avoid discovery", "err", err)
		return false
	}
	if previous := r.model.name.Swap(&name); *previous != name {
		r.Logger.Info("Discovered the model", "model", name)
		r.Sink.Observe(probe.ModelFound{Target: r.key.Target, Workload: r.key.Workload, Model: name})
	}
	return true
}
