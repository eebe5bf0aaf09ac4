package turnlog

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// minutes returns the time so many minutes after start.
func minutes(n int) time.Time { return start().Add(time.Duration(n) * time.Minute) }

// logged is a turn of a minute.
func logged(minute int, trace string, kind probe.TurnKind, outcome probe.Outcome) Turn {
	return Turn{At: minutes(minute), Target: "a", Workload: "chat", Kind: kind, Outcome: outcome, Duration: probe.Some(time.Minute), TraceID: trace}
}

// sessionLog has conversations that overlap, fail, run in lanes, pause for days and are not covered.
func sessionLog() []Turn {
	const day = 24 * 60
	other := logged(1, "w", probe.First, probe.Success)
	other.Target = "b" // no objective on sessions covers it
	burst := logged(60, "u", probe.First, probe.Success)
	burst.Burst = true
	long := logged(110, "p", probe.First, probe.Success)
	long.Duration = probe.Some(time.Hour) // it ends after the last turn of its conversation
	return []Turn{
		logged(0, "x", probe.First, probe.Success),
		other,
		logged(2, "y", probe.First, probe.Success),
		logged(3, "early", probe.Followup, probe.Success), // its first turn is not in the log
		logged(5, "y", probe.Followup, probe.Stall),
		logged(7, "x", probe.Followup, probe.Success),
		burst,
		logged(90, "x", probe.Followup, probe.Success),
		logged(100, "l", probe.First, probe.Success),
		logged(102, "l", probe.First, probe.Truncated), // cancels the lane beside it
		logged(102, "l", probe.Followup, probe.Canceled),
		long,
		logged(111, "p", probe.Followup, probe.Success),
		logged(200, "z", probe.First, probe.Success),
		logged(201+day, "q", probe.First, probe.Success),
		logged(202+2*day, "r", probe.First, probe.Success),
		logged(203+3*day, "z", probe.Followup, probe.Success), // after a pause of more than two days
	}
}

// readSessions starts and ends turns in the order of time, and returns the conversations.
func readSessions(read *SessionReader, turns []Turn) (ended []probe.Conversation) {
	type event struct {
		at time.Time
		do func()
	}
	var events []event
	for i := range turns {
		r := turns[i].Result()
		events = append(events, event{turns[i].At, func() { read.Start(&turns[i]) }}, event{r.End, func() {
			if c, ok := read.End(&r); ok {
				ended = append(ended, c)
			}
		}})
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	for _, e := range events {
		e.do()
	}
	return ended
}

func TestSessions(t *testing.T) {
	const day = 24 * 60
	turns := sessionLog()
	sessions := NewSessions([]slo.Objective{{SLI: slo.Session, Targets: []string{"a"}}, {SLI: slo.TTFT}})
	for i := range turns {
		sessions.Add(&turns[i])
	}
	conversation := func(trace string, from, to, turns int, outcome probe.Outcome) probe.Conversation {
		return probe.Conversation{
			Target: "a", Workload: "chat", TraceID: trace, Scheduled: minutes(from), Sent: minutes(from), End: minutes(to),
			Outcome: outcome, Turns: turns, Burst: trace == "u",
		}
	}
	want := []probe.Conversation{
		conversation("y", 2, 6, 2, probe.Stall),
		conversation("u", 60, 61, 1, probe.Success),
		conversation("x", 0, 91, 3, probe.Success),
		conversation("l", 100, 103, 3, probe.Truncated),
		conversation("p", 110, 170, 2, probe.Success),
		conversation("z", 200, 201, 1, probe.Success),
		conversation("q", 201+day, 202+day, 1, probe.Success),
		conversation("r", 202+2*day, 203+2*day, 1, probe.Success),
	}
	// The log has grown since the first reading: the new turn ends no conversation.
	turns = append(turns, logged(9*day, "v", probe.First, probe.Success))
	for range 2 { // each reader has its own state
		if diff := cmp.Diff(want, readSessions(sessions.Read(), turns), cmp.AllowUnexported(probe.Conversation{})); diff != "" {
			t.Errorf("conversations (-want +got):\n%s", diff)
		}
	}
	if err := sessions.Err(); err != nil {
		t.Error(err)
	}
}

// TestSessionsNeedTraces: the error names the turn and the remedy. Without an objective on sessions there is none.
func TestSessionsNeedTraces(t *testing.T) {
	turn := logged(1, "", probe.First, probe.Success)
	for sli, want := range map[slo.SLI]string{
		slo.Availability: "",
		slo.Session:      `the turn of target "a" and workload "chat" at 2026-01-05T08:01:00Z has no trace_id, by which an objective on sessions knows the turns of a session: write it to the log, or remove the objectives with "sli: session" from the configuration`,
	} {
		s := NewSessions([]slo.Objective{{SLI: sli}})
		s.Add(&turn)
		got := ""
		if err := s.Err(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", sli, got, want)
		}
	}
}
