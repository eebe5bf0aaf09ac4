package status

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// Snapshot is what the page shows, as plain values.
type Snapshot struct {
	At      time.Time `json:"at"`
	Started time.Time `json:"started"`
	// Window is how far back the figures look.
	Window Duration `json:"window_seconds"`
	// Lag is how late the prober itself was in the last minute.
	Lag Duration `json:"prober_lag_seconds"`
	// Spending is that of all jobs.
	Spending Spending `json:"spending"`
	// Jobs are sorted by target and workload.
	Jobs []Job `json:"jobs"`
}

// Job is the state of one workload sent to one target.
type Job struct {
	Target   string `json:"target"`
	Workload string `json:"workload"`
	// Model is the one that the last turn asked for, "" before it.
	Model string `json:"model"`

	// Counts since the start. Turns includes Failed, Canceled and OwnFaults.
	Turns         int            `json:"turns"`
	Failed        int            `json:"failed"`
	Canceled      int            `json:"canceled"`
	OwnFaults     int            `json:"own_faults"`
	Conversations int            `json:"conversations"`
	Skipped       map[string]int `json:"skipped"`

	TurnsInFlight         int `json:"turns_in_flight"`
	ConversationsInFlight int `json:"conversations_in_flight"`

	// Burst is why it is probed more often now: a turn failed, or a signal is on its
	// way to a page; "" while it is not.
	Burst    string   `json:"burst"`
	Spending Spending `json:"spending"`

	// InPart says that the job is judged in part at most: the prober itself is too
	// late for an objective, or spoiled the last turn. A prober is starved, in the
	// words of the metrics, only when it can judge nothing.
	InPart bool `json:"judged_in_part"`
	// Last is the last turn that ended, nil before the first.
	Last   *Last  `json:"last"`
	Recent Recent `json:"recent"`
	// Expected is nil for a job without a benchmark.
	Expected *Expected `json:"expected,omitempty"`
	SLOs     []SLO     `json:"slos"`
	// Signals are those that anything is known of.
	Signals []Signal `json:"signals"`
	// Points are the recent turns, oldest first.
	Points []Point `json:"points"`
}

// Last is the last turn of a job.
type Last struct {
	End      time.Time     `json:"end"`
	Age      Duration      `json:"age_seconds"`
	Outcome  probe.Outcome `json:"outcome"`
	Err      string        `json:"error,omitempty"`
	TTFT     Duration      `json:"ttft_seconds"`
	TPOT     Duration      `json:"tpot_seconds"`
	Duration Duration      `json:"duration_seconds"`
}

// Recent are the figures of the turns that ended within the window, those left
// out that the prober itself ended.
type Recent struct {
	Turns  int `json:"turns"`
	Failed int `json:"failed"`
	// Span is how far back these turns go: the window, or less if more turns
	// ended in it than are kept.
	Span Duration `json:"span_seconds"`
	// Errors is Failed / Turns; Reasons are its parts, largest first.
	Errors  Ratio    `json:"error_ratio"`
	Reasons []Reason `json:"reasons"`
	// Cached is cached / prompt tokens of the turns that said both.
	Cached Ratio `json:"cached_ratio"`
	// First and Followup turns are never mixed.
	First    Kind `json:"first"`
	Followup Kind `json:"followup"`
}

// Reason is how many turns failed in one way.
type Reason struct {
	Outcome probe.Outcome `json:"reason"`
	Turns   int           `json:"turns"`
	// Share is of all recent turns.
	Share Ratio `json:"share"`
}

// Kind are the figures of first or of follow-up turns.
type Kind struct {
	Turns int `json:"turns"`
	// TTFT is over the turns that got a first token. TTFTAll takes those that
	// failed before one as endless: a deployment that sheds load must not look
	// quicker for it.
	TTFT    Quantiles `json:"ttft"`
	TTFTAll Quantiles `json:"ttft_with_failures"`
	TPOT    Quantiles `json:"tpot"`
}

// SLO is how the recent turns stand against one objective.
type SLO struct {
	Name string  `json:"name"`
	SLI  slo.SLI `json:"sli"`
	// Threshold is undefined for availability.
	Threshold Duration `json:"threshold_seconds"`
	Objective Ratio    `json:"objective"`
	Judged    int      `json:"judged"`
	Good      int      `json:"good"`
	Share     Ratio    `json:"good_ratio"`
}

// Met reports whether the share of good turns reaches the objective; it is
// false as well when no turn was judged.
func (s SLO) Met() bool { return s.Share.OK && s.Share.V >= s.Objective.V }

// Point is one recent turn in the picture.
type Point struct {
	End     time.Time      `json:"end"`
	Kind    probe.TurnKind `json:"turn"`
	Outcome probe.Outcome  `json:"outcome"`
	TTFT    Duration       `json:"ttft_seconds"`
}

// Snapshot returns the state of all jobs.
func (p *Page) Snapshot() Snapshot {
	late := p.options.Lag()
	s := Snapshot{
		At: p.options.Now(), Started: p.started, Window: Duration(probe.Some(window)),
		Lag: Duration(probe.Some(late)), Jobs: []Job{},
	}
	for key, j := range p.all() {
		if one, begun := j.snapshot(key, s.At, late); begun {
			one.Signals = p.signals(key)
			s.Jobs = append(s.Jobs, one)
		}
	}
	s.Spending = together(s.Jobs)
	slices.SortFunc(s.Jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Workload, b.Workload))
	})
	return s
}

// snapshot returns the state of a job, and whether anything has happened in it.
func (j *job) snapshot(key probe.Key, now time.Time, late time.Duration) (out Job, begun bool) {
	j.mu.Lock()
	if !j.begun {
		j.mu.Unlock()
		return out, false
	}
	objectives, last, samples := j.info.Objectives, j.last, slices.Clone(j.samples)
	out = j.counted
	out.Spending = j.spent.spending(j.info, now)
	out.Skipped = maps.Clone(out.Skipped)
	j.mu.Unlock()

	// The figures are made outside of the lock: a sink must not wait for them.
	if last != nil {
		out.Last = lastOf(last, now)
	}
	oldest := now.Add(-window)
	recent := slices.DeleteFunc(samples, func(s sample) bool { return s.end.Before(oldest) })
	out.Recent = figures(recent)
	out.Recent.Span = Duration(probe.Some(window))
	if len(recent) == samplesKept {
		out.Recent.Span.V = now.Sub(recent[0].end)
	}
	out.SLOs = judge(key, recent, objectives)
	out.InPart = last != nil && last.Outcome.OwnFault() ||
		slices.ContainsFunc(objectives, func(o slo.Objective) bool { return late > o.Tolerance() })
	out.Points = []Point{}
	for _, s := range recent {
		out.Points = append(out.Points, Point{End: s.end, Kind: s.turn(), Outcome: s.outcome, TTFT: Duration(s.ttft.opt())})
	}
	return out, true
}

func lastOf(r *probe.Result, now time.Time) *Last {
	return &Last{
		End: r.End, Age: Duration(probe.Some(now.Sub(r.End))), Outcome: r.Outcome, Err: r.Err,
		TTFT: Duration(r.TTFT), TPOT: Duration(r.TPOT), Duration: Duration(probe.Some(r.Duration())),
	}
}
