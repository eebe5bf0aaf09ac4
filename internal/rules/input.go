package rules

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"synthetic/internal/slo"
)

// Job is one workload that is sent to one target.
type Job struct {
	Target, Workload string
	// TurnsPerMinute is the expected rate of all turns from one prober; 0 means unknown, as for
	// closed-loop traffic.
	TurnsPerMinute float64
	// ConversationsPerMinute is the expected rate of first turns from one prober; 0 means
	// unknown. It is also the rate of turns during an outage, when every conversation ends with
	// its first turn.
	ConversationsPerMinute float64
	// ServerMetrics is true if the target's own metrics are read.
	ServerMetrics bool
	// TurnTimeout is the longest duration of a turn; 0 means unknown.
	TurnTimeout time.Duration
}

// Input is everything that the rules depend on.
type Input struct {
	SLOs []slo.Objective
	// Jobs determine windows by their rates. Rules do not name targets.
	Jobs []Job
	// Discovery is true if a group discovers targets.
	Discovery bool
	// RunbookURL is the address of docs/runbooks; "" leaves links out, because a relative path
	// is no use in a page.
	RunbookURL string
	// DashboardURL is the address under which Grafana serves dashboards by UID, such as
	// "https://grafana.example.org/d"; "" leaves links out.
	DashboardURL string
	// KeepLabels are labels that the scrape adds to a prober, such as cluster or pod. Each
	// combination of values is judged separately.
	KeepLabels []string
	// TargetLabels are configured labels of targets, which alerts keep.
	TargetLabels []string
}

// check rejects what the configuration does not: no jobs, labels with another meaning, an objective without jobs.
func (in Input) check() error {
	if len(in.Jobs) == 0 {
		return errors.New("no traffic: add an entry under \"traffic\", because the windows of alerts depend on its rate")
	}
	errs := []error{CheckLabels(slices.Concat(in.KeepLabels, in.TargetLabels))}
	for i, o := range in.SLOs {
		if len(in.covered(o)) == 0 {
			errs = append(errs, fmt.Errorf("slos[%d] %q: covers none of the %d probed pairs of target and workload: "+
				"correct its targets and workloads, or add traffic", i, o.Name, len(in.Jobs)))
		}
	}
	return errors.Join(errs...)
}

// covered returns the jobs that an objective judges.
func (in Input) covered(o slo.Objective) []Job {
	return slices.DeleteFunc(slices.Clone(in.Jobs), func(j Job) bool { return !o.CoversJob(j.Target, j.Workload) })
}
