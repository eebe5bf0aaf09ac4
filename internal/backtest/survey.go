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

// Survey describes the traffic in a log of turns.
type Survey struct {
	// First and Last are the send times of the first and the last turn.
	First, Last time.Time
	Turns       int
	// Jobs are sorted by key.
	Jobs []SurveyedJob
}

// SurveyedJob describes the traffic of one job in a log.
type SurveyedJob struct {
	Key probe.Key
	// The rates are means over the whole time of the job in the log.
	ConversationsPerMinute, TurnsPerMinute float64
	// Timeouts are the usual timeouts, or longer ones if turns took longer.
	Timeouts workload.Timeouts
}

type jobTotals struct {
	first, last                 time.Time
	turns, conversations        int
	longest, ttft, toFirstToken time.Duration
}

// SurveyTurns reads a whole log once. It calls progress, which may be nil, from time to time. objectives are those of
// all jobs.
func SurveyTurns(ctx context.Context, log *turnlog.Log, objectives []slo.Objective, progress func(turns int, at time.Time)) (Survey, error) {
	in := log.Read()
	defer in.Close()
	s := Survey{}
	jobs := map[probe.Key]*jobTotals{}
	for {
		t, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Survey{}, err
		}
		if s.Turns%1e5 == 0 {
			if ctx.Err() != nil {
				return Survey{}, ctx.Err()
			}
			if progress != nil {
				progress(s.Turns, t.At)
			}
		}
		if s.Turns == 0 {
			s.First = t.At
		}
		s.Turns, s.Last = s.Turns+1, t.At
		j := jobs[t.Key()]
		if j == nil {
			j = &jobTotals{first: t.At}
			jobs[t.Key()] = j
		}
		j.add(t)
	}
	for _, key := range slices.SortedFunc(maps.Keys(jobs), probe.Key.Compare) {
		s.Jobs = append(s.Jobs, jobs[key].job(key))
	}
	return s, nil
}

func (j *jobTotals) add(t *turnlog.Turn) {
	j.last = t.At
	if !t.Burst { // bursts do not count towards the normal rate
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

func (j *jobTotals) job(key probe.Key) SurveyedJob {
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

// Job returns the job as a configuration would define it. objectives and policy are not in the
// log.
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

// Targets returns the targets of the jobs, sorted.
func (s Survey) Targets() []string {
	var all []string
	for _, j := range s.Jobs {
		all = append(all, j.Key.Target)
	}
	return slices.Compact(all) // the jobs are sorted by target
}
