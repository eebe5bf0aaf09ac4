// Package config reads the YAML configuration file into validated values of
// the packages that use them. Nothing below it imports it.
package config

import (
	"synthetic/internal/schedule"
	"synthetic/internal/slo"
	"synthetic/internal/target"
)

// Config is a validated configuration.
type Config struct {
	// Targets in the order of the file.
	Targets []target.Target
	// Jobs are the traffic entries resolved: targets × workload.
	Jobs []schedule.Job
	// SLOs in the order of the file.
	SLOs []slo.Objective
}
