package status

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// Snapshot holds the content of the page as plain values.
type Snapshot struct {
	At      time.Time `json:"at"`
	Started time.Time `json:"started"`
	// period of the figures
	Window Duration `json:"window_seconds"`
	// lag of the prober in the last minute
	Lag Duration `json:"prober_lag_seconds"`
	// sorted by target and workload
	Jobs []Job `json:"jobs"`
	// nil if this process evaluates no rules
	Alerts *Alerts `json:"alerts,omitempty"`
}

type Job struct {
	Target   string `json:"target"`
	Workload string `json:"workload"`
	// model of the last request, "" before the first
	Model string `json:"model"`
	// fields that requests leave out because the target refuses them
	LeftOut []string `json:"left_out,omitempty"`

	counts

	// Burst is the reason of the current burst: a failed turn, or a signal near a page; "" without a burst.
	Burst string `json:"burst"`

	// InPart is true if the prober is too late for at least one objective, or lost the last turn. The metric for
	// starvation is 1 only if it cannot judge anything.
	InPart bool `json:"judged_in_part"`
	// last finished turn, nil before the first
	Last   *lastTurn     `json:"last"`
	Recent recentFigures `json:"recent"`
	SLOs   []SLO         `json:"slos"`
	// signals with data
	Signals []signalState `json:"signals"`
	// State is the text of the badge. CanPage is as Page.CanPage.
	State   state          `json:"state"`
	CanPage string         `json:"can_page,omitempty"`
	Open    []openAlert    `json:"-"` // its firing alerts
	zone    *time.Location // of the target's users; nil means UTC
}

// counts are those since the start. Turns includes Failed, Canceled and OwnFaults.
type counts struct {
	Turns         int            `json:"turns"`
	Failed        int            `json:"failed"`
	Canceled      int            `json:"canceled"`
	OwnFaults     int            `json:"own_faults"`
	Conversations int            `json:"conversations"`
	Skipped       map[string]int `json:"skipped"`

	TurnsInFlight         int `json:"turns_in_flight"`
	ConversationsInFlight int `json:"conversations_in_flight"`
}

// Key returns the target and the workload.
func (j Job) Key() probe.Key { return probe.Key{Target: j.Target, Workload: j.Workload} }

// lastTurn is a turn, in JSON and otherwise, and its age.
type lastTurn struct {
	turnRow
	Age Duration
}

// recentFigures holds the figures of the turns that ended within the window, except turns that the prober ended.
type recentFigures struct {
	Turns  int `json:"turns"`
	Failed int `json:"failed"`
	// Span is the period of these turns: the window, or less as Period says in words.
	Span   Duration `json:"span_seconds"`
	Period string   `json:"-"`
	// Errors is Failed / Turns; Reasons are its parts, largest first.
	Errors  share           `json:"error_ratio"`
	Reasons []failureReason `json:"reasons"`
	// Cached is cached / prompt tokens, of turns that reported both.
	Cached share `json:"cached_ratio"`
	// Sessions counts follow-up turns whose worker is known.
	Sessions probe.SessionCounts `json:"sessions,omitzero"`
	// First and Followup turns are never mixed.
	First    Kind `json:"first"`
	Followup Kind `json:"followup"`
}

// failureReason is the number of turns that failed for one reason.
type failureReason struct {
	Outcome probe.Outcome `json:"reason"`
	Turns   int           `json:"turns"`
	// share of all recent turns
	Share share `json:"share"`
}

type Kind struct {
	Turns int `json:"turns"`
	// TTFT covers the turns with a first token. TTFTAll counts turns that failed before it as infinite, so that a
	// deployment that sheds load does not look faster.
	TTFT    quantiles `json:"ttft"`
	TTFTAll quantiles `json:"ttft_with_failures"`
	TPOT    quantiles `json:"tpot"`
}

// SLO is the result of the recent turns for one objective.
type SLO struct {
	Name string  `json:"name"`
	SLI  slo.SLI `json:"sli"`
	// undefined for availability
	Threshold Duration `json:"threshold_seconds"`
	// PerThousand is added to the threshold for every 1,000 uncached tokens; absent for a plain one.
	PerThousand Duration `json:"threshold_seconds_per_1k_uncached_tokens,omitzero"`
	// Uncached is the class of turns by uncached tokens; "" for all.
	Uncached  string `json:"uncached_tokens,omitempty"`
	Objective share  `json:"objective"`
	Judged    int    `json:"judged"`
	Good      int    `json:"good"`
	Share     share  `json:"good_ratio"`
	// CacheUnknown counts judged turns whose cached tokens are unknown, if the objective depends on them.
	CacheUnknown int `json:"cache_unknown,omitempty"`
	// Miss says what happens in a turn that misses the objective.
	Miss string `json:"miss"`
}

// Met reports whether the share of good turns reaches the objective. It is false without judged turns.
func (s SLO) Met() bool { return s.Share.OK && s.Share.V >= s.Objective.V }

// Snapshot returns the content of the page.
func (p *Page) Snapshot() Snapshot {
	late := p.options.Lag()
	s := Snapshot{
		At: p.options.Now(), Started: p.started, Window: Duration(probe.Some(window)),
		Lag: Duration(probe.Some(late)), Jobs: []Job{},
	}
	var open []openAlert
	if alerts, ruled := p.options.Alerts(); ruled {
		s.Alerts, open = &alerts, alerts.open()
	}
	for key, j := range p.all() {
		if snapshot, ok := j.snapshot(key, s.At, s.At.Sub(p.started), late); ok {
			if reading, known := p.options.Baseline(key); known {
				snapshot.Signals = signals(&reading, s.At, snapshot.zone)
			}
			snapshot.CanPage = canPage(snapshot.Signals)
			snapshot.Open = slices.DeleteFunc(slices.Clone(open), func(a openAlert) bool { return a.Target != key.Target || a.Workload != key.Workload })
			snapshot.State = p.badge(snapshot, s.At)
			s.Jobs = append(s.Jobs, snapshot)
		}
	}
	slices.SortFunc(s.Jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Workload, b.Workload))
	})
	return s
}

// snapshot returns the state of a job of a process of some age, and whether it has had any event.
func (j *job) snapshot(key probe.Key, now time.Time, age, late time.Duration) (out Job, ok bool) {
	j.mu.Lock()
	if !j.hasEvents {
		j.mu.Unlock()
		return out, false
	}
	objectives, last, recent := j.info.Objectives, j.last, slices.Clone(j.samples)
	out = Job{
		Target: key.Target, Workload: key.Workload, Model: j.model, LeftOut: j.leftOut, Burst: j.tally.Burst.Why,
		zone: j.info.Location,
		counts: counts{
			Conversations: j.tally.Conversations.Ended, ConversationsInFlight: j.tally.Conversations.InFlight,
			Skipped: maps.Clone(j.tally.Skipped),
		},
	}
	for _, turns := range j.tally.Turns {
		out.Turns += turns.Ended
		out.TurnsInFlight += turns.InFlight
		out.Failed += turns.Count(probe.Outcome.Failed)
		out.Canceled += turns.Count(probe.Outcome.Canceled)
		out.OwnFaults += turns.Count(probe.Outcome.OwnFault)
	}
	j.mu.Unlock()

	// Figures are computed without the lock, because a sink must not wait for them.
	if last != nil {
		out.Last = &lastTurn{turnRow{*last}, Duration(probe.Some(now.Sub(last.End)))}
	}
	recent = slices.DeleteFunc(recent, func(s sample) bool { return now.Sub(s.end) > window })
	all := len(recent)
	recent = recent[outage(recent, now):]
	out.Recent = figures(recent)
	out.Recent.Span, out.Recent.Period = period(recent, len(recent) < all, now, age)
	out.SLOs = judge(key, recent, objectives)
	out.InPart = last != nil && last.Outcome.OwnFault() ||
		slices.ContainsFunc(objectives, func(o slo.Objective) bool { return late > o.Tolerance() })
	return out, true
}
