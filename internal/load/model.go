package load

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

const (
	// modelTimeout bounds the question for the model where the target sets none.
	modelTimeout = 10 * time.Second
	// modelPause and modelPauseMax bound the time between two questions while
	// the model is unknown. The maximum is short: once a deployment is up, each
	// conversation without a model would fail for our lack of a name.
	modelPause, modelPauseMax = time.Second, 5 * time.Second
	// modelDoubt is the least time between two questions because of answers
	// that say the model is not there.
	modelDoubt = 10 * time.Second
)

// model knows the name of a target's model: the configured one, or what the
// deployment says. As long as it says nothing the name is empty, and the
// conversations are held all the same: that a deployment is down is to be
// measured, not waited out.
type model struct {
	target target.Target
	prober Prober
	log    *slog.Logger
	// found is told of each new name.
	found func(name string)
	// asked is closed when the first question was answered, well or badly.
	asked  chan struct{}
	doubts chan struct{}
	known  atomic.Pointer[string]
}

func newModel(t target.Target, p Prober, log *slog.Logger, found func(name string)) *model {
	m := &model{
		target: t, prober: p, log: log, found: found,
		asked: make(chan struct{}), doubts: make(chan struct{}, 1),
	}
	m.known.Store(&t.Model)
	if t.Model != "" {
		close(m.asked)
	}
	return m
}

// name returns the model to use now; "" while it is unknown.
func (m *model) name() string { return *m.known.Load() }

// doubt says that the deployment does not know the model: it may serve another
// by now. It never blocks.
func (m *model) doubt() {
	select {
	case m.doubts <- struct{}{}:
	default: // a doubt is waiting already
	}
}

// run asks for the model until it is known, and again whenever it is in doubt.
// A configured model is never asked for.
func (m *model) run(ctx context.Context) {
	if m.target.Model != "" {
		return
	}
	retry := newBackoff(workload.Hash(m.target.Name), modelPause, modelPauseMax)
	known := m.ask(ctx, slog.LevelWarn)
	close(m.asked)
	for {
		if !known {
			if !pause(ctx, retry.next()) {
				return
			}
			known = m.ask(ctx, slog.LevelDebug)
			continue
		}
		retry.reset()
		select {
		case <-ctx.Done():
			return
		case <-m.doubts:
		}
		m.ask(ctx, slog.LevelWarn)
		if !pause(ctx, modelDoubt) {
			return
		}
	}
}

// ask asks once and keeps the answer; a failure keeps the former one and is
// logged at the given level.
func (m *model) ask(ctx context.Context, level slog.Level) bool {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(m.target.ModelsTimeout, modelTimeout))
	defer cancel()
	name, err := m.prober.Model(ctx)
	if err != nil || name == "" {
		m.log.Log(ctx, level, "cannot discover the model; set the target's model to do without", "err", err)
		return false
	}
	if name != m.name() {
		m.log.Info("discovered the model", "model", name)
		m.known.Store(&name)
		m.found(name)
	}
	return true
}
