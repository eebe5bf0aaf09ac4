package turnlog

import (
	"fmt"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// mostPause is the longest pause between two turns of a session. Sessions forgets older ones, so that its maps hold
// the sessions of at most two days.
const mostPause = 24 * time.Hour

// Sessions finds the last turn of each conversation in a log, for the jobs that have an objective on sessions. The
// turns of a conversation have one trace ID. Use NewSessions.
type Sessions struct {
	objectives []slo.Objective
	// continued has a bit for each turn of these jobs, in the order of the log: 1 if a later turn continues the
	// conversation.
	continued []uint64
	turns     int
	// recent and older hold the number of the latest turn of each conversation. since is when recent began.
	recent, older map[sessionKey]int
	since         time.Time
	err           error
}

type sessionKey struct {
	job   probe.Key
	trace string
}

// NewSessions returns a Sessions that knows no turn.
func NewSessions(objectives []slo.Objective) *Sessions {
	return &Sessions{objectives: slices.DeleteFunc(slices.Clone(objectives), func(o slo.Objective) bool { return o.SLI != slo.Session })}
}

func (s *Sessions) covers(t *Turn) bool {
	return slices.ContainsFunc(s.objectives, func(o slo.Objective) bool { return o.CoversJob(t.Target, t.Workload) })
}

// Add takes every turn of the log, in its order.
func (s *Sessions) Add(t *Turn) {
	if !s.covers(t) {
		return
	}
	if t.TraceID == "" && s.err == nil {
		s.err = fmt.Errorf("the turn of target %q and workload %q at %s has no trace_id, by which an objective on sessions knows the turns of a session: write it to the log, or remove the objectives with \"sli: session\" from the configuration",
			t.Target, t.Workload, t.At.Format(time.RFC3339Nano))
	}
	if s.recent == nil || t.At.Sub(s.since) > mostPause {
		s.recent, s.older, s.since = map[sessionKey]int{}, s.recent, t.At
	}
	key := sessionKey{t.Key(), t.TraceID}
	n, known := s.recent[key]
	if !known {
		n, known = s.older[key]
	}
	if s.turns%64 == 0 {
		s.continued = append(s.continued, 0)
	}
	if known {
		s.continued[n/64] |= 1 << (n % 64)
	}
	s.recent[key] = s.turns
	s.turns++
}

// Err returns an error if a turn without a trace ID was added. It says what to do.
func (s *Sessions) Err() error { return s.err }

// isLast reports whether no later turn continues the conversation of the n-th turn. It is false for turns that were
// not added, because the log has grown.
func (s *Sessions) isLast(n int) bool { return n < s.turns && s.continued[n/64]&(1<<(n%64)) == 0 }

// Read returns a reader for a second reading of the log.
func (s *Sessions) Read() *SessionReader {
	return &SessionReader{sessions: s, open: map[sessionKey]*openSession{}}
}

// SessionReader puts conversations together from the turns of a log.
type SessionReader struct {
	sessions *Sessions
	started  int
	open     map[sessionKey]*openSession
}

type openSession struct {
	probe.Conversation
	// whole is true if the log has the first turn.
	whole bool
	// running is the number of turns that have started and not ended. allStarted is true after the start of the last.
	running    int
	allStarted bool
}

// Start takes the start of every turn of the log, in its order.
func (r *SessionReader) Start(t *Turn) {
	if !r.sessions.covers(t) {
		return
	}
	key := sessionKey{t.Key(), t.TraceID}
	o := r.open[key]
	if o == nil {
		o = &openSession{whole: t.Kind == probe.First, Conversation: probe.Conversation{
			Target: t.Target, Workload: t.Workload, TraceID: t.TraceID, Scheduled: t.At, Outcome: probe.Success, Burst: t.Burst,
		}}
		r.open[key] = o
	}
	o.running++
	o.allStarted = r.sessions.isLast(r.started)
	r.started++
}

// End takes the end of a turn that has started. If the conversation ends with it, End returns the conversation and
// true. Its Lag, Shortened, Spent and tokens are zero, because the log does not have them. End does not return a
// conversation whose first turn is not in the log.
func (r *SessionReader) End(t *probe.Result) (c probe.Conversation, ended bool) {
	key := sessionKey{t.Key(), t.TraceID}
	o := r.open[key]
	if o == nil {
		return c, false
	}
	o.Turns++
	if o.Sent.IsZero() || t.Sent.Before(o.Sent) {
		o.Sent = t.Sent
	}
	if t.End.After(o.End) {
		o.End = t.End
	}
	if o.Outcome == probe.Success || o.Outcome == probe.Canceled && t.Outcome != probe.Success {
		o.Outcome = t.Outcome
	}
	o.running--
	if o.running > 0 || !o.allStarted {
		return c, false
	}
	delete(r.open, key)
	return o.Conversation, o.whole
}
