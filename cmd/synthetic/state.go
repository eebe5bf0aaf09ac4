package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
)

// saveEvery is how much of the baselines and of a regression in progress a
// crash can lose.
const saveEvery = time.Minute

// restoreBaselines reads a state file into the recorder, and makes sure that it
// can be replaced. A file that cannot be used is left as it is: it may hold
// what took a week to learn. An empty path keeps nothing.
func restoreBaselines(path string, recorder *metrics.Recorder) error {
	if path == "" {
		return nil
	}
	f, err := regression.ReadFile(path)
	if err != nil {
		return usagef("--state.file: %w", err)
	}
	beside, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return usagef("--state.file=%s: nothing can be saved there: %w; its directory must exist and be writable", path, err)
	}
	if err := errors.Join(beside.Close(), os.Remove(beside.Name())); err != nil {
		return fmt.Errorf("--state.file=%s: removing what was written to try: %w", path, err)
	}
	recorder.RestoreBaselines(f)
	return nil
}

// keepBaselines saves the recorder's baselines from now on. The returned
// function saves a last time. The recorder must have its configuration: what it
// does not name is forgotten. An empty path keeps nothing.
func keepBaselines(path string, recorder *metrics.Recorder, logger *slog.Logger) (stop func()) {
	if path == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		saveBaselines(ctx, path, recorder, logger)
	}()
	return func() {
		cancel()
		<-done
	}
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
