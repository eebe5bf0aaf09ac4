package main

import (
	"context"
	"log/slog"
	"time"

	"synthetic/internal/metrics"
	"synthetic/internal/regression"
)

// saveEvery is how much of the baselines and of a regression in progress a
// crash can lose.
const saveEvery = time.Minute

// keepBaselines reads a state file into the recorder, before its first
// snapshot, and saves to it from then on. The returned function saves a last
// time. An empty path keeps nothing.
func keepBaselines(path string, recorder *metrics.Recorder, logger *slog.Logger) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := regression.ReadFile(path)
	if err != nil {
		return nil, err
	}
	recorder.RestoreBaselines(f)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		saveBaselines(ctx, path, recorder, logger)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}

// saveBaselines saves once a minute and when ctx is done. A file that cannot be
// written is said and tried again: probing goes on.
func saveBaselines(ctx context.Context, path string, recorder *metrics.Recorder, logger *slog.Logger) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-ctx.Done():
			over = true
		case <-tick.C:
		}
		if err := recorder.Baselines().WriteFile(path); err != nil {
			logger.Error("The baselines could not be saved; a restart would learn them anew", "err", err)
		}
	}
}
