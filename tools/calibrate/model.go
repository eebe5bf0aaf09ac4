package main

import (
	"fmt"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"synthetic/internal/simulate/cluster"
	"synthetic/tools/calibrate/replay"
)

// The protocol of the measured sweeps: a minute of warm-up per level, then the mean of
// three snapshots, 100 s apart, each with summaries over the last minute.
const (
	warmUp    = time.Minute
	snapshots = 3
	spacing   = 100 * time.Second
	window    = time.Minute
	levelTime = warmUp + snapshots*spacing
)

// answers returns the lengths of the answers of the open-loop benchmarks, computed as
// throughput over rate. The two deployments were measured through different endpoints.
func answers(preset string) replay.Length {
	if preset == "bench-eagle3" {
		return replay.Length{Mean: 880, Spread: 180, Max: 1024}
	}
	return replay.Length{Mean: 517, Spread: 120, Max: 1024}
}

// simulate simulates a series with a configuration, once per seed, and returns the mean of
// the levels.
func simulate(s series, config cluster.Config) (mean []level, err error) {
	runs := make([][]level, seeds)
	for i := range runs {
		config.Seed = uint64(i + 1)
		if strings.HasPrefix(s.Preset, "bench-") {
			runs[i], err = open(s, config)
		} else {
			runs[i], err = closed(s, config)
		}
		if err != nil {
			return nil, fmt.Errorf("preset %q: %w", s.Preset, err)
		}
	}
	return average(runs), nil
}

// closed simulates a sweep over concurrencies.
func closed(s series, config cluster.Config) ([]level, error) {
	sessions := s.Sessions
	if len(sessions) == 0 {
		sessions = []int{len(s.Levels)}
	}
	var all []level
	for _, n := range sessions {
		part := s.Levels[len(all) : len(all)+n]
		c := cluster.New(config)
		var plan []replay.Level
		for _, l := range part {
			plan = append(plan, replay.Level{Concurrency: int(l["load"]), For: levelTime})
		}
		turns, err := replay.MultiTurn(config.Seed).Run(c, plan)
		if err != nil {
			return nil, err
		}
		for i, l := range part {
			all = append(all, snapshot(turns, time.Duration(i)*levelTime, l["load"]))
		}
	}
	return all, nil
}

// snapshot measures a level that started at begin.
func snapshot(turns []replay.Turn, begin time.Duration, load float64) level {
	var shots []replay.Figures
	for i := 1; i <= snapshots; i++ {
		end := begin + warmUp + time.Duration(i)*spacing
		shots = append(shots, replay.Window(turns, end-window, end))
	}
	return inUnits(replay.Mean(shots), load)
}

// open simulates a sweep over rates.
func open(s series, config cluster.Config) ([]level, error) {
	c := cluster.New(config)
	var rates []float64
	for _, l := range s.Levels {
		rates = append(rates, l["load"])
	}
	measured, err := replay.FixedPrompts(answers(s.Preset), config.Seed).Run(c, rates)
	if err != nil {
		return nil, err
	}
	var all []level
	for i, f := range measured {
		l := inUnits(f.Figures, rates[i])
		l["itl_p50_ms"], l["itl_p99_ms"] = f.Gap.P50*1e3, f.Gap.P99*1e3
		l["max_concurrent"] = float64(f.MaxConcurrent)
		all = append(all, l)
	}
	return all, nil
}

// inUnits converts figures to the names and units of the reports.
func inUnits(f replay.Figures, load float64) level {
	return level{
		"load":        load,
		"ttft_p50_ms": f.TTFT.P50 * 1e3, "ttft_p95_ms": f.TTFT.P95 * 1e3, "ttft_p99_ms": f.TTFT.P99 * 1e3,
		"tpot_p50_ms": f.TPOT.P50 * 1e3, "tpot_p95_ms": f.TPOT.P95 * 1e3, "tpot_p99_ms": f.TPOT.P99 * 1e3,
		"latency_p50_ms": f.Latency.P50 * 1e3, "latency_p95_ms": f.Latency.P95 * 1e3,
		"error_pct": f.Errors * 100, "hit_pct": f.Hits * 100,
		"turns_per_s": f.Turns, "tokens_per_s": f.Tokens,
	}
}

// average returns the mean of runs for each level.
func average(runs [][]level) (mean []level) {
	for i := range runs[0] {
		m := level{}
		for name := range runs[0][i] {
			var values []float64
			for _, r := range runs {
				values = append(values, r[i][name])
			}
			m[name] = stat.Mean(values, nil)
		}
		mean = append(mean, m)
	}
	return mean
}
