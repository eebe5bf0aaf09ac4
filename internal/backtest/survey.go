package backtest

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
	"synthetic/internal/turnlog"
)

// Survey is what a log of turns says of the traffic in it.
type Survey struct {
	// First and Last are when its first and its last turn were sent.
	First, Last time.Time
	Turns       int
	// Jobs are in order of their keys.
	Jobs []SurveyedJob
}

// SurveyedJob is the traffic of one job of a log.
type SurveyedJob struct {
	Key probe.Key
	// ConversationsPerMinute and TurnsPerMinute are over all of its time in the log.
	ConversationsPerMinute, TurnsPerMinute float64
	// Timeouts are the usual ones, or longer where turns took longer.
	Timeouts workload.Timeouts
}

// surveyed sums up a job.
type surveyed struct {
	first, last                 time.Time
	turns, conversations        int
	longest, ttft, toFirstToken time.Duration
}

// SurveyTurns reads a log once from its beginning to its end.
func SurveyTurns(ctx context.Context, log *turnlog.Log) (Survey, error) {
	in := log.Read()
	defer in.Close()
	var s Survey
	jobs := map[probe.Key]*surveyed{}
	for {
		t, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Survey{}, err
		}
		if s.Turns%1e5 == 0 && ctx.Err() != nil {
			return Survey{}, ctx.Err()
		}
		if s.Turns == 0 {
			s.First = t.At
		}
		s.Turns, s.Last = s.Turns+1, t.At
		j := jobs[t.Key()]
		if j == nil {
			j = &surveyed{first: t.At}
			jobs[t.Key()] = j
		}
		j.add(t)
	}
	for _, key := range slices.SortedFunc(maps.Keys(jobs), probe.Key.Compare) {
		s.Jobs = append(s.Jobs, jobs[key].job(key))
	}
	return s, nil
}

func (j *surveyed) add(t *turnlog.Turn) {
	j.last = t.At
	if !t.Burst { // the rate is that of calm traffic
		j.turns++
		if t.Kind == probe.First {
			j.conversations++
		}
	}
	j.longest, j.ttft = max(j.longest, t.TotalDuration()), max(j.ttft, t.TTFT.V)
	if t.Outcome == probe.TimeoutFirstToken {
		j.toFirstToken = max(j.toFirstToken, t.Duration.V)
	}
}

func (j *surveyed) job(key probe.Key) SurveyedJob {
	minutes := max(j.last.Sub(j.first).Minutes(), 1)
	usual := workload.Timeouts{FirstToken: 30 * time.Second, Stall: 10 * time.Second, Total: 2 * time.Minute}
	if j.toFirstToken > 0 {
		usual.FirstToken = j.toFirstToken
	}
	usual.FirstToken = max(usual.FirstToken, j.ttft)
	usual.Total = max(usual.Total, j.longest)
	return SurveyedJob{
		Key: key, Timeouts: usual,
		ConversationsPerMinute: float64(j.conversations) / minutes, TurnsPerMinute: float64(j.turns) / minutes,
	}
}

// Job is the job as a configuration would have it that says no more than the log,
// the objectives and what a regression is.
func (j SurveyedJob) Job(slos []slo.Objective, policy sink.Policy) sink.Job {
	return sink.Job{
		Job: probe.Job{
			Target:   target.Target{Name: j.Key.Target, Connection: target.Reuse},
			Workload: workload.Spec{Name: j.Key.Workload, Timeouts: j.Timeouts},
			Traffic:  workload.Traffic{Arrival: workload.Arrival{Rate: j.ConversationsPerMinute / 60}},
		},
		Objectives: slices.DeleteFunc(slices.Clone(slos), func(o slo.Objective) bool { return !o.CoversJob(j.Key.Target, j.Key.Workload) }),
		Policy:     policy,
	}
}

// Targets are those of the jobs.
func (s Survey) Targets() []string {
	var all []string
	for _, j := range s.Jobs {
		all = append(all, j.Key.Target)
	}
	return slices.Compact(all) // jobs are in order
}
