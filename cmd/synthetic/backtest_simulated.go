package main

import (
	"slices"
	"strings"
	"time"

	"synthetic/internal/backtest"
)

// simulated is what the flags want simulated; nothing beside a recording.
func (f *backtestFlags) simulated() (backtest.Scenario, error) {
	if f.recorded.given() {
		if f.scenario != "" {
			return backtest.Scenario{}, usagef("--scenario.file=%s: recorded series have the noise and the faults they have; leave it out, or --tsdb.path and --prometheus.url", f.scenario)
		}
		return backtest.Scenario{}, nil
	}
	own := backtest.Scenario{}
	if f.scenario != "" {
		var err error
		if own, err = backtest.LoadScenario(f.scenario); err != nil {
			return own, err
		}
	}
	models, err := f.chosenModels(own.Models)
	if err != nil {
		return own, err
	}
	faults, err := f.chosenFaults(own.Faults)
	return backtest.Scenario{Models: models, Faults: faults}, err
}

// chosenModels are those of --model, or own ones, or the default.
func (f *backtestFlags) chosenModels(own []backtest.Model) ([]backtest.Model, error) {
	models := slices.Clone(own)
	if len(f.models) > 0 {
		models = nil
	} else if len(own) == 0 {
		models = []backtest.Model{backtest.Quiet(), backtest.Typical()}
	}
	for _, name := range f.models {
		m, err := backtest.ModelNamed(name, own...)
		if err != nil {
			return nil, usageError{err}
		}
		models = append(models, m)
	}
	for _, m := range models[1:] {
		// The one set of rules is fitted to the probe rate.
		if simulatedJob(m) != simulatedJob(models[0]) {
			return nil, usagef("model %q is probed at another rate than %q, for which other rules are generated; run it apart with --model=%s", m.Name, models[0].Name, m.Name)
		}
	}
	return models, nil
}

// chosenFaults are own ones, or the named ones, as far as --fault wants them.
func (f *backtestFlags) chosenFaults(own []backtest.Fault) ([]backtest.Fault, error) {
	all := own
	if len(all) == 0 {
		all = backtest.Faults()
	}
	var faults []backtest.Fault
	for _, fault := range all {
		if len(f.faults) == 0 || containsAny(fault.Name, f.faults) {
			faults = append(faults, fault)
		}
	}
	if len(faults) == 0 {
		return nil, usagef("--fault: no fault has a name with %q", f.faults)
	}
	if err := backtest.Fit(faults, time.Duration(f.days)*24*time.Hour); err != nil {
		return nil, usagef("--days=%d: %w; write more days, or leave the fault out with --fault", f.days, err)
	}
	return faults, nil
}

func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}
