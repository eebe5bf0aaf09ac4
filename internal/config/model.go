// Package config reads the YAML configuration file into validated values of
// the packages that use them. Nothing below it imports it.
//
// The reading goes in three steps. The file's text becomes YAML nodes, which
// know their line and column. A strict decoder fills the tagged structs of
// file.go from them. The builder checks what concerns several keys at once and
// resolves names, paths and defaults into plain values. Each step collects its
// mistakes and goes on, so that one run reports them all.
//
// The same tags produce docs/reference/configuration.md and docs/synthetic.schema.json.
package config

import (
	"synthetic/internal/load"
	"synthetic/internal/probe/target"
	"synthetic/internal/slo"
)

// Config is a validated configuration.
type Config struct {
	// Targets in the order of the file.
	Targets []target.Target
	// ServerMetrics are the targets whose own metrics are to be read.
	ServerMetrics []ServerMetrics
	// Jobs are the traffic entries resolved: targets × workload.
	Jobs []load.Job
	// SLOs in the order of the file.
	SLOs []slo.Objective
	// Baselines are the benchmarks that jobs are compared with, at most one each.
	Baselines []Baseline
	// Changes are the declared change windows in the order of the file.
	Changes []Change
	// Alerting is nil if the process does not page by itself.
	Alerting *Alerting
	// Hash is the SHA-256 of the file's text in hexadecimal. Files that the
	// configuration names are not part of it.
	Hash string
}
