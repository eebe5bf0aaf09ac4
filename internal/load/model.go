package load

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

const (
	// modelTimeout bounds the question for the model where the target sets none.
	modelTimeout = 10 * time.Second
	// modelPause and modelPauseMax bound the time between two questions while
	// the model is unknown. The maximum is short: once a deployment is up, each
	// conversation without a model would fail for our lack of a name.
	modelPause, modelPauseMax = time.Second, 5 * time.Second
	// modelRecheck is the least time between two questions because of answers
	// that say the model is not there.
	modelRecheck = 10 * time.Second
)

// model is the name of a target's model: the configured one, or what the
// deployment says. As long as it says nothing the name is empty, and the
// conversations are held all the same: that a deployment is down is to be
// measured, not waited out.
type model struct {
	known atomic.Pointer[string]
	// asked is closed when the first question was answered, well or badly.
	asked chan struct{}
	// missing is told when an answer says that the model is not there.
	missing chan struct{}
}

// discoverModel asks for the model until it is known, and again whenever it is
// not there. A configured model is never asked for.
func (r *runner) discoverModel() {
	configured := r.job.Target.Model != ""
	known := configured || r.askModel(slog.LevelWarn)
	close(r.model.asked)
	retry := newBackoff(workload.Hash(r.key.Target), modelPause, modelPauseMax)
	for !known && Pause(r.soft, retry.next()) {
		known = r.askModel(slog.LevelDebug)
	}
	for level := slog.LevelWarn; !configured && await(r.soft, r.model.missing, nil); {
		// Once in an outage: that the name is still unknown is no news.
		if r.askModel(level) {
			level = slog.LevelWarn
		} else {
			level = slog.LevelDebug
		}
		if !Pause(r.soft, modelRecheck) {
			return
		}
	}
}

// askModel asks once and keeps the answer; a failure keeps the former one and
// is logged at the given level.
func (r *runner) askModel(level slog.Level) bool {
	ctx, cancel := context.WithTimeout(r.soft, cmp.Or(r.job.Target.ModelsTimeout, modelTimeout))
	defer cancel()
	name, err := r.prober.Model(ctx)
	if err != nil || name == "" {
		r.log.Log(ctx, level, "cannot discover the model; set the target's model to do without", "err", err)
		return false
	}
	if old := r.model.known.Swap(&name); *old != name {
		r.log.Info("discovered the model", "model", name)
		r.report("the name of the model", probe.ModelFound{Target: r.key.Target, Workload: r.key.Workload, Model: name})
	}
	return true
}
