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

func (in Input) check() error {
	var errs []error
	if len(in.Jobs) == 0 {
		errs = append(errs, errors.New("no traffic: add an entry under \"traffic\", because the windows of alerts depend on its rate"))
	}
	errs = append(errs, in.repeatedJobs()...)
	errs = append(errs, CheckLabels(slices.Concat(in.KeepLabels, in.TargetLabels)))
	seen := map[string]bool{}
	for i, o := range in.SLOs {
		where := fmt.Sprintf("slos[%d] %q", i, o.Name)
		if o.Name == "" || seen[o.Name] {
			errs = append(errs, fmt.Errorf("%s: the name must be set and unique, since it is the value of the slo label", where))
		}
		seen[o.Name] = true
		if err := checkObjective(o); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", where, err))
		} else if len(in.covered(o)) == 0 && len(in.Jobs) > 0 {
			errs = append(errs, fmt.Errorf("%s: covers none of the %d probed pairs of target and workload: correct its targets and workloads, or add traffic", where, len(in.Jobs)))
		}
	}
	return errors.Join(errs...)
}

// repeatedJobs rejects two entries for one target and workload.
func (in Input) repeatedJobs() []error {
	var errs []error
	times := map[[2]string]int{}
	for _, j := range in.Jobs {
		times[[2]string{j.Target, j.Workload}]++
	}
	for _, j := range in.Jobs {
		pair := [2]string{j.Target, j.Workload}
		if n := times[pair]; n > 1 {
			errs = append(errs, fmt.Errorf("traffic: target %q, workload %q is listed %d times: merge the entries, which would have the same series", j.Target, j.Workload, n))
			delete(times, pair)
		}
	}
	return errs
}

func checkObjective(o slo.Objective) error {
	switch {
	case !(o.Objective > 0 && o.Objective < 1):
		return fmt.Errorf("objective %v: write a share of good turns between 0 and 1, for example 0.99", o.Objective)
	case o.Window < time.Hour:
		return fmt.Errorf("window %s: write at least 1h, usually 30d", o.Window)
	}
	return nil
}

// covered returns the jobs that an objective judges.
func (in Input) covered(o slo.Objective) []Job {
	return slices.DeleteFunc(slices.Clone(in.Jobs), func(j Job) bool { return !o.CoversJob(j.Target, j.Workload) })
}
